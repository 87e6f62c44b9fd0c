"""Thread work: what plugins do in threads. It comes to its end also when the task that waits for it is cancelled.

Rules:
* Work that has begun is waited for, so that nothing is left half done.
* Once somebody hurries it, what is under way and all that follows have limited time. The rest is left: its thread goes
  on, and nobody waits for it.
* Calls of plugins, for clients and for the admin side, have threads of their own. If all of these hang, other calls
  wait. Files, metrics and configurations, whose work is done in trio's threads, do not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from math import inf

import trio

from proxy.core.failure import FAILURES, AnyFailure

CALLS = trio.CapacityLimiter(40)  # threads for calls of plugins; trio has as many for all else


async def watched(watch: Callable[[], Awaitable[None]], finish: Callable[[], Awaitable[None]]) -> None:
    """Finish work that may hang, while `watch` runs, which is cancelled afterwards. Raises what the work raises."""
    failed: AnyFailure | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        try:
            await finish()
        except FAILURES as error:  # raised beside the nursery, which would put it into a group
            failed = error
        nursery.cancel_scope.cancel()
    if failed is not None:
        raise failed


class ThreadWork:
    """All that one plugin does in threads."""

    def __init__(self) -> None:
        self._under_way: set[trio.CancelScope] = set()
        self._until = inf  # by trio's clock

    def hurry(self, seconds: float) -> None:
        """From now on all work together has this time. May be called again, and never gives more time."""
        self._until = min(self._until, trio.current_time() + seconds)
        for scope in self._under_way:
            scope.deadline = self._until

    async def finish(self, work: Callable[[], object], limiter: trio.CapacityLimiter | None = None) -> bool:
        """Do this work in a thread. False: it was left."""
        with trio.CancelScope(shield=True, deadline=self._until) as scope:
            self._under_way.add(scope)
            try:
                await trio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)
            finally:
                self._under_way.discard(scope)
        return not scope.cancelled_caught
