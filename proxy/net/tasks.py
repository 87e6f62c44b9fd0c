"""Tasks: what runs beside the links. One that fails ends itself, never another, and is begun again.

trio ends everything around a task that raises. What is served here belongs to many who have nothing to do with it: so
whatever waits, watches or accepts is run by `keep`, and whatever is called for one broker or client `contained`.

Rules:
* What is caught here is a bug, or something that this machine refused: a line in the log with a traceback, and a count.
  Whoever expects an error catches it where it arises.
* A task that failed is begun again after 1 s, 2 s, ... 60 s; one that had run for a while before, after 1 s.
* Cancellation, Ctrl-C and exits pass through.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

import structlog
import trio

from proxy.net.complaints import Complaints
from proxy.telemetry.counters import NetworkCounters

log = structlog.get_logger()

FIRST_PAUSE = 1.0
LAST_PAUSE = 60.0
STEADY = 60.0  # seconds that a task must have run to be begun again soon

WAY_OUT = "the rest goes on; please report this line"


class Tasks:
    """Runs the tasks of one process, and counts those that failed."""

    def __init__(self, counters: NetworkCounters, complaints: Complaints) -> None:
        self.counters = counters
        self.complaints = complaints

    async def keep(self, name: str, do: Callable[[], Awaitable[object]]) -> None:
        """Run `do` until it returns, or until cancelled, however often it fails."""
        pause = FIRST_PAUSE
        while True:
            began = trio.current_time()
            with self.contained(name):
                await do()
                return
            if trio.current_time() - began >= STEADY:
                pause = FIRST_PAUSE
            await trio.sleep(pause)
            pause = min(pause * 2, LAST_PAUSE)

    @contextmanager
    def contained(self, name: str, **facts: object) -> Iterator[None]:
        """What fails in here goes no further."""
        try:
            yield
        except Exception as error:
            self._failed(name, error, facts)
        except BaseExceptionGroup as group:
            failed, ending = group.split(Exception)
            if failed is not None:
                self._failed(name, failed, facts)
            if ending is not None:
                raise ending from None

    def _failed(self, name: str, error: BaseException, facts: dict[str, object]) -> None:
        self.counters.failed_tasks += 1
        with suppress(Exception):  # a log that cannot be written to is no reason to end
            facts |= {"exc_info": error, "way_out": WAY_OUT}
            self.complaints.tell(log.error, "a task failed", name, type(error).__name__, task=name, **facts)
