"""Process: a gateway or several workers, from the start to the signal that ends them.

Rules:
* SIGTERM and Ctrl-C end it cleanly: requests in flight are answered, and the exit code is 0. A second one ends it at
  once. Further ones change nothing: plugins have little time left, and use it.
* Two signals of one kind at the same moment are one. SIGTERM and SIGINT are always two: so a supervisor tells its
  workers to end at once.
* A problem that prevents the start is one line in the log, not a traceback.
* Its last line is `ended`. It says how many connections or workers were cut, because they did not end in time, or
  because the process was to end at once. If a thread hangs then, the last line is another (`last_resort.py`).
"""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import structlog
import trio

from proxy.config import Config
from proxy.core.state import PluginStates
from proxy.net.bind import BindError
from proxy.telemetry.report import Report, Reports

log = structlog.get_logger()

DONE = 0
CUT = 1  # ended at once, whatever was in flight
ECHO = 0.3  # seconds within which the same signal counts as the first one: `timeout` and some shells send it twice
CANNOT_START = 3  # the reason was logged
ENDS = (signal.SIGTERM, signal.SIGINT)
ENDING = "the proxy is about to end"  # the reason for refusing changes

Started = Callable[[Report], None]
Signals = AsyncIterator[int]


@dataclass
class DrainResult:
    """The result of a drain: how many connections or workers there were when it began, and how many were cut."""

    what: str
    there: int = 0
    cut: int = 0


class Serving(Protocol):
    """A gateway, or several workers."""

    ending: DrainResult

    @property
    def states(self) -> PluginStates:
        """The state of the plugins while they run."""

    @property
    def config(self) -> Config:
        """The configuration that is in force."""

    async def apply(self, config: Config) -> None:
        """Put another configuration in force without a break. If it raises StartError, nothing has changed."""

    async def run(self, started: Started) -> None:
        """Serve until stopped. `started` is called each time that further ports have opened."""

    def stop(self) -> None:
        """Let `run` return when requests in flight are answered."""

    async def reports(self) -> Reports:
        """The report of each worker."""

    async def connections(self, limit: int) -> list[dict[str, Any]]:
        """The open connections of each worker (`connected.py`), at most `limit` of each."""

    def cut(self) -> None:
        """Cut what is still there, count it, and wait for nothing. `run` is cancelled already, and ends next."""


class StartError(Exception):
    """A gateway or worker cannot start, or cannot take a configuration. The reasons are for people.

    If there are none, they have been logged already.
    """

    @property
    def reasons(self) -> Sequence[str]:
        """The reasons, a line each."""
        return self.args


@contextmanager
def _end_signals() -> Iterator[Signals]:
    """The signals that end the process. None of them ends it in another way meanwhile."""
    before = {number: signal.signal(number, lambda number, frame: None) for number in ENDS}
    try:
        with trio.open_signal_receiver(*ENDS) as signals:
            yield signals  # trio raises those again that nobody took
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def serve(serving: Serving, started: Started, at_once: Callable[[], object]) -> int:
    """Serve until a signal comes. Returns the exit code. `at_once` is called at a second signal."""
    code = CUT
    try:
        with _end_signals() as signals:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_obey_signals, signals, serving, at_once, nursery.cancel_scope)
                await serving.run(started)
                code = DONE
                nursery.cancel_scope.cancel()
    except* (BindError, StartError) as group:
        code = cannot_start(*leaves(group))
    if code != CANNOT_START:
        _say_ended(serving.ending)
    return code


def _say_ended(ending: DrainResult) -> None:
    say = log.warning if ending.cut else log.info
    say("ended", **{ending.what: ending.there, "cut": ending.cut})


def cannot_start(*errors: Exception) -> int:
    """Log the reasons. Returns the exit code."""
    for error in errors:
        for reason in error.reasons if isinstance(error, StartError) else (str(error),):
            log.error("cannot start", why=reason)
    return CANNOT_START


async def _obey_signals(
    signals: Signals, serving: Serving, at_once: Callable[[], object], everything: trio.CancelScope
) -> None:
    first = await anext(signals)
    log.info("ending", signal=signal.Signals(first).name, way_out="a second one ends at once")
    serving.stop()
    stopped = trio.current_time()
    async for number in signals:
        if number != first or trio.current_time() - stopped > ECHO:
            log.warning("ending at once", signal=signal.Signals(number).name)
            at_once()
            everything.cancel()  # before the cut, after which a drain would end in order
            serving.cut()
            return


def leaves(group: BaseExceptionGroup[Exception]) -> Iterator[Exception]:
    """The exceptions of a group, including those of nested groups."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from leaves(error)
        else:
            yield error
