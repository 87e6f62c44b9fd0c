"""The files of plugins are kept in step."""

from collections.abc import Iterable

import pytest
import trio
from structlog.testing import capture_logs

from proxy.core.plugin import Plugin
from proxy.net.complaints import Complaints
from proxy.net.reloading import keep_in_step
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters
from proxy.text.problems import Reload


class Watching(Plugin):
    """Finds one thing at a time, then nothing any more."""

    def __init__(self, *found: Reload) -> None:
        self.found = list(found)
        self.ended = trio.Event()

    def refresh(self) -> Iterable[Reload]:
        if self.found:
            return [self.found.pop(0)]
        trio.from_thread.run_sync(self.ended.set)
        return []


class Careless(Plugin):
    """Has no files."""


async def test_a_change_is_told_and_so_is_one_that_cannot_be_taken() -> None:
    plugin = Watching(Reload("a.yaml", True, ("a warning",)), Reload("a.yaml", False, ("1:1: bad", "2:1: worse")))
    with capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_in_step, [Careless(), plugin], Tasks(NetworkCounters(), Complaints()))
            await plugin.ended.wait()
            nursery.cancel_scope.cancel()
    assert lines == [
        {"event": "rules reloaded", "log_level": "info", "file": "a.yaml", "warnings": ["a warning"]},
        {
            "event": "rules not reloaded",
            "log_level": "error",
            "why": "1:1: bad\n2:1: worse",
            "still": "what was read before",
        },
    ]


@pytest.mark.parametrize("plugins", [[], [Careless()]])
async def test_nothing_is_looked_at_where_there_is_nothing(plugins: list[Plugin]) -> None:
    await keep_in_step(plugins, Tasks(NetworkCounters(), Complaints()))


class Broken(Plugin):
    """Cannot read its files."""

    def refresh(self) -> Iterable[Reload]:
        raise OSError(24, "Too many open files")


async def test_a_plugin_that_cannot_read_its_files_keeps_no_other_from_reading() -> None:
    counters, plugin = NetworkCounters(), Watching(Reload("a.yaml", True, ()))
    with capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_in_step, [Broken(), plugin], Tasks(counters, Complaints()))
            await plugin.ended.wait()
            nursery.cancel_scope.cancel()
    assert [line["event"] for line in lines] == ["a task failed", "rules reloaded"]
    assert counters.failed_tasks >= 2
