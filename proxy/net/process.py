"""Process: whatever serves, from its start to the signal that ends it.

Rules:
* SIGTERM and Ctrl-C end it cleanly: what is in flight is answered, the exit code is 0. A second one ends it at once.
* What keeps it from starting is one line in the log, not a traceback.
* Its last line is `ended`, and says what was cut: connections or workers that did not end in time, or at once.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
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
ECHO = 0.3  # seconds in which a second signal is the first again: `timeout` and some shells send it twice
CANNOT_START = 3  # and has said why
ENDING = "the proxy is about to end"  # why nothing is changed any more

Started = Callable[[Report], None]


@dataclass
class DrainResult:
    """How it ends: so many connections, or workers, were there when it was told to end, and so many were cut."""

    what: str
    there: int = 0
    cut: int = 0


class Serving(Protocol):
    """A gateway, or several workers."""

    ending: DrainResult

    @property
    def states(self) -> PluginStates:
        """Its plugins, while they run."""

    @property
    def config(self) -> Config:
        """The configuration that is in force."""

    async def apply(self, config: Config) -> None:
        """Put another configuration in force, while everything goes on. Raises StartError, and nothing changed."""

    async def run(self, started: Started) -> None:
        """Serve until stopped; `started` is called each time that further ports are open."""

    def stop(self) -> None:
        """Let `run` end when what is in flight is answered."""

    async def reports(self) -> Reports:
        """What each worker says about itself."""

    async def connections(self, limit: int) -> list[dict[str, Any]]:
        """Who is connected to each worker (`connected.py`), as many of them as the limit."""

    def cut(self) -> None:
        """Whatever is there still ends now: `run` is cancelled next."""


class StartError(Exception):
    """What serves cannot start, or cannot take a configuration; the reasons are for people.

    Without one it has been said already.
    """

    @property
    def reasons(self) -> Sequence[str]:
        """A line each."""
        return self.args


async def serve(serving: Serving, started: Started) -> int:
    """Serve until a signal comes. Gives the exit code."""
    code = CUT
    try:
        async with trio.open_nursery() as nursery:
            await nursery.start(_obey_signals, serving, nursery.cancel_scope)
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
    """Say why. Gives the exit code."""
    for error in errors:
        for reason in error.reasons if isinstance(error, StartError) else (str(error),):
            log.error("cannot start", why=reason)
    return CANNOT_START


async def _obey_signals(serving: Serving, everything: trio.CancelScope, task_status: trio.TaskStatus[None]) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        log.info("ending", signal=signal.Signals(await anext(signals)).name, way_out="a second one ends at once")
        serving.stop()
        stopped = trio.current_time()
        async for number in signals:
            if trio.current_time() - stopped > ECHO:
                log.warning("ending at once", signal=signal.Signals(number).name)
                serving.cut()
                everything.cancel()


def leaves(group: BaseExceptionGroup[Exception]) -> Iterator[Exception]:
    """The exceptions of a group, and of the groups in it."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from leaves(error)
        else:
            yield error
