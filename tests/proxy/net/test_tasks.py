"""A task that fails beside the links ends only itself."""

from __future__ import annotations

from itertools import pairwise

import pytest
import trio
from structlog.testing import capture_logs

from proxy.net.complaints import Complaints
from proxy.net.tasks import FIRST_PAUSE, LAST_PAUSE, STEADY, Tasks
from proxy.telemetry.counters import NetworkCounters


@pytest.fixture
def tasks() -> Tasks:
    return Tasks(NetworkCounters(), Complaints())


async def test_a_task_that_fails_is_begun_again_a_little_later_each_time(
    tasks: Tasks, autojump_clock: trio.testing.MockClock
) -> None:
    began: list[float] = []

    async def fail() -> None:
        began.append(trio.current_time())
        if len(began) < 10:
            raise RuntimeError("a bug")

    await tasks.keep("failing", fail)
    pauses = [round(later - earlier) for earlier, later in pairwise(began)]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert tasks.counters.failed_tasks == 9


async def test_one_that_had_run_for_a_while_is_begun_again_soon(
    tasks: Tasks, autojump_clock: trio.testing.MockClock
) -> None:
    began: list[float] = []

    async def fail_late() -> None:
        began.append(trio.current_time())
        if len(began) < 4:
            await trio.sleep(STEADY)
            raise RuntimeError("a bug")

    await tasks.keep("failing", fail_late)
    assert {later - earlier - STEADY for earlier, later in pairwise(began)} == {FIRST_PAUSE}
    assert FIRST_PAUSE < LAST_PAUSE


async def test_a_failure_is_one_line_that_says_what_and_where(tasks: Tasks) -> None:
    with capture_logs() as lines:
        for _ in range(100):
            with tasks.contained("looking", file="rules.yaml"):
                raise ValueError("a bug")
    (line,) = lines
    assert (line["event"], line["task"], line["file"]) == ("a task failed", "looking", "rules.yaml")
    assert isinstance(line["exc_info"], ValueError)
    assert line["way_out"] == "the rest goes on; please report this line"
    assert tasks.counters.failed_tasks == 100


async def test_being_cancelled_is_no_failure(tasks: Tasks) -> None:
    with trio.move_on_after(0) as scope:
        await tasks.keep("sleeping", trio.sleep_forever)
    assert scope.cancelled_caught
    assert tasks.counters.failed_tasks == 0


async def test_what_fails_while_it_is_cancelled_is_told_and_the_rest_ends(tasks: Tasks) -> None:
    async def fail_at_the_end() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise RuntimeError("a bug")

    async def two() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail_at_the_end)
            nursery.start_soon(trio.sleep_forever)

    with trio.move_on_after(0) as scope:
        await tasks.keep("two", two)
        raise AssertionError("it went on")
    assert scope.cancelled_caught
    assert tasks.counters.failed_tasks == 1


@pytest.mark.parametrize("ending", [KeyboardInterrupt, GeneratorExit])
async def test_what_ends_the_process_passes(tasks: Tasks, ending: type[BaseException]) -> None:
    with pytest.raises(ending), tasks.contained("anything"):
        raise ending


async def test_an_exit_of_a_plugin_is_a_failure_like_others(tasks: Tasks) -> None:
    for exits in (SystemExit(1), BaseExceptionGroup("two", [SystemExit(1), RuntimeError("a bug")])):
        with capture_logs() as lines, tasks.contained("anything"):
            raise exits
        assert [line["event"] for line in lines] == ["a task failed"]
    assert tasks.counters.failed_tasks == 2
