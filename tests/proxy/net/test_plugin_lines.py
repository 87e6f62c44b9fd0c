from __future__ import annotations

import trio
import trio.testing
from structlog.testing import capture_logs

from proxy.net.complaints import AT_ONCE
from proxy.testing import connection
from tests.proxy.net.test_hosted import host, hosted


async def test_a_line_says_whose_it_is_and_what_is_known_of_the_connection() -> None:
    tell = hosted().plugin.services.tell
    with capture_logs() as lines:
        tell("found it", connection(), level="warning", topic="a")
    (line,) = lines
    assert line["event"] == "found it"
    assert line["log_level"] == "warning"
    assert line["plugin"] == "noting-2"
    assert (line["topic"], line["client"]) == ("a", "192.0.2.1:50000")


async def test_lines_alike_are_throttled() -> None:
    tell = hosted().plugin.services.tell
    with capture_logs() as lines:
        for number in range(100):
            tell("found it", connection(), example=number)
    assert len(lines) == AT_ONCE


async def test_a_line_may_come_from_any_thread() -> None:
    tell = hosted().plugin.services.tell
    with capture_logs() as lines:
        await trio.to_thread.run_sync(tell, "written")
        await trio.testing.wait_all_tasks_blocked()
    assert [line["event"] for line in lines] == ["written"]


async def test_a_line_that_cannot_be_written_ends_nothing_whatever_thread_it_comes_from() -> None:
    there = host()
    tell = hosted(there).plugin.services.tell
    with capture_logs() as lines:
        await trio.to_thread.run_sync(lambda: tell("found it", about=["no", "hash"]))
        await trio.to_thread.run_sync(lambda: tell("found it", level="loud"))
        await trio.testing.wait_all_tasks_blocked()
    assert [(line["event"], line["task"]) for line in lines] == [("a task failed", "a line of a plugin")] * 2
    assert there.tasks.counters.failed_tasks == 2
