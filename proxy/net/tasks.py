"""Tasks: work beside the links. A task that fails ends only itself, and is started again.

When a task raises, trio ends everything around it. But clients here have nothing to do with each other. So everything
that waits, watches or accepts runs in `keep`, and calls for a single broker or client run in `contained`.

Rules:
* An error that is caught here is a bug, or something that this machine refused. It is logged with a traceback, and
  counted. Expected errors are caught where they arise.
* A task that failed is started again after 1 s, 2 s, ... 60 s. If it had run for a while before, it is after 1 s.
* `SystemExit` is an error too: only code of plugins and libraries raises it here. Cancellation and Ctrl-C pass through.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType

import structlog
import trio

from proxy.core.failure import FAILURES
from proxy.net.complaints import Complaints
from proxy.telemetry.counters import NetworkCounters

log = structlog.get_logger()

FIRST_PAUSE = 1.0
LAST_PAUSE = 60.0
STEADY = 60.0  # seconds after which a failed task starts again without a long pause

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

    def contained(self, name: str, **facts: object) -> Contained:
        """An error in this block goes no further. `facts` are logged with it; a `way_out` among them replaces ours."""
        return Contained(self, name, facts)

    def failed(self, name: str, error: BaseException, facts: dict[str, object]) -> None:
        """Count a task that failed, and tell of it."""
        self.counters.failed_tasks += 1
        with suppress(Exception):  # a log that cannot be written is no reason to end
            facts = {"way_out": WAY_OUT, **facts, "exc_info": error}
            self.complaints.tell(log.error, "a task failed", name, type(error).__name__, task=name, **facts)


class Contained:
    """A block whose failure goes no further.

    Each connection enters one. With `contextmanager` it would take four times as long.
    """

    __slots__ = ("_facts", "_name", "_tasks")

    def __init__(self, tasks: Tasks, name: str, facts: dict[str, object]) -> None:
        self._tasks = tasks
        self._name = name
        self._facts = facts

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        if isinstance(error, FAILURES):
            self._tasks.failed(self._name, error, self._facts)
            return True
        if not isinstance(error, BaseExceptionGroup):
            return False
        failed, ending = error.split(FAILURES)
        if failed is not None:
            self._tasks.failed(self._name, failed, self._facts)
        if ending is not None:
            raise ending from None
        return True
