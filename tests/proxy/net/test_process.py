from __future__ import annotations

import os
import signal

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from proxy.net import process
from proxy.net.bind import BindError
from proxy.net.process import CANNOT_START, CUT, DONE, DrainResult, Started, StartError, serve
from proxy.telemetry.report import Report, Reports
from tests.proxy.net.scripted import PATIENCE


class Quiet:
    """Serves nobody; ends when it is told to, and then waits for `finished` as if something were in flight."""

    def __init__(self) -> None:
        self.stopped = trio.Event()
        self.finished = trio.Event()
        self.ending = DrainResult("connections", 3)

    async def run(self, started: Started) -> None:
        started(Report(ready=True))
        await self.stopped.wait()
        await self.finished.wait()

    def stop(self) -> None:
        self.stopped.set()

    def cut(self) -> None:
        self.ending.cut = 2

    async def reports(self) -> Reports:
        return {}


class Failing(Quiet):
    """Cannot start."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def run(self, started: Started) -> None:
        async with trio.open_nursery():
            raise self.error


def nothing() -> None:
    """Little time is left, and nobody watches over it."""


async def test_a_signal_ends_it_cleanly(nursery: trio.Nursery) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        quiet = Quiet()
        quiet.finished.set()
        assert await serve(quiet, lambda report, number=number: os.kill(os.getpid(), number), nothing) == DONE


async def test_two_signals_at_once_are_one(nursery: trio.Nursery) -> None:
    quiet, codes = Quiet(), []

    async def run() -> None:
        codes.append(await serve(quiet, lambda report: os.kill(os.getpid(), signal.SIGTERM), nothing))

    nursery.start_soon(run)
    await quiet.stopped.wait()
    with capture_logs() as logs:
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(20):
            await trio.lowlevel.checkpoint()
        quiet.finished.set()
        with trio.fail_after(PATIENCE):
            while not codes:
                await trio.lowlevel.checkpoint()
    assert codes == [DONE]
    assert logs == [{"event": "ended", "connections": 3, "cut": 0, "log_level": "info"}]


async def test_a_second_signal_ends_it_at_once(nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "ECHO", 0.0)
    quiet, at_once = Quiet(), []

    async def insist() -> None:
        await quiet.stopped.wait()
        os.kill(os.getpid(), signal.SIGTERM)

    nursery.start_soon(insist)
    with trio.fail_after(PATIENCE), capture_logs() as logs:
        code = await serve(quiet, lambda report: os.kill(os.getpid(), signal.SIGTERM), lambda: at_once.append(1))
    assert (code, at_once) == (CUT, [1])
    assert [line["event"] for line in logs] == ["ending", "ending at once", "ended"]
    assert logs[-1] == {"event": "ended", "connections": 3, "cut": 2, "log_level": "warning"}


def both(report: Report) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)


async def test_two_signals_of_different_kinds_are_two() -> None:
    with trio.fail_after(PATIENCE):
        assert await serve(Quiet(), both, nothing) == CUT


class Busy(Quiet):
    """Has something to finish when it is to end at once, and is told a third time meanwhile."""

    async def run(self, started: Started) -> None:
        try:
            await super().run(started)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            with trio.CancelScope(shield=True):
                await trio.testing.wait_all_tasks_blocked()
            self.finished.set()


async def test_further_signals_leave_the_end_its_time() -> None:
    busy = Busy()
    with trio.fail_after(PATIENCE):
        assert await serve(busy, both, nothing) == CUT
    assert busy.finished.is_set()


@pytest.mark.parametrize("error", [BindError("port 1 is taken"), StartError("worker 0 died")])
async def test_what_keeps_it_from_starting_is_one_line(error: Exception) -> None:
    with capture_logs() as logs:
        assert await serve(Failing(error), lambda report: None, nothing) == CANNOT_START
    assert logs == [{"event": "cannot start", "why": str(error), "log_level": "error"}]


async def test_what_was_said_already_is_not_said_again() -> None:
    with capture_logs() as logs:
        assert await serve(Failing(StartError()), lambda report: None, nothing) == CANNOT_START
    assert logs == []


async def test_a_bug_is_not_hidden() -> None:
    with pytest.raises(ExceptionGroup):
        await serve(Failing(ZeroDivisionError()), lambda report: None, nothing)
