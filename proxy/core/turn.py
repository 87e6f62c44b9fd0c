"""Turns: a lane that did much work lets the other connections have their turn before it does more.

Rules:
* Only frames that a plugin wants count as work: a frame that passes costs next to nothing, and is not counted.
* Work is counted, not timed: a frame counts by its length, and by the least time of its handlers. A small frame may be
  full of elements, at 2 us a byte: two such frames take 20 ms.
* The more lanes of a worker wait for their turn, the shorter is a turn, down to one frame. With turns of one length,
  50 clients that sent requests without end kept a small request waiting for 300 ms instead of 100.
"""

from __future__ import annotations

from proxy.core.outbox import Outbox
from proxy.core.waiting import WaitingTasks

HANDLED = 500  # bytes that can be read while handlers look at a small message, about 40 us
LIGHT_FRAME = 1_000  # bytes that can be read while a large frame with few elements is handled, about 150 us
DENSE = 4  # factor by which a frame's bytes count, since it may be full of elements
ENOUGH = 32 << 10  # bytes: about 2 ms, if frames are not dense


class WaitingLanes:
    """The lanes of one worker that wait for their turn. `enough`: the work that each may do in one turn."""

    __slots__ = ("_count", "enough")

    def __init__(self) -> None:
        self._count = 0
        self.enough = ENOUGH

    def change(self, by: int) -> None:
        """So many more wait."""
        self._count += by
        self.enough = ENOUGH // (1 + self._count)


class Turn:
    """The work of one lane since the others had their turn. `is_over`: they have it now."""

    __slots__ = ("_outbox", "_tasks", "_waiting", "_work", "is_over")

    def __init__(self, tasks: WaitingTasks, outbox: Outbox, waiting: WaitingLanes) -> None:
        self._tasks = tasks
        self._outbox = outbox
        self._waiting = waiting
        self._work = 0
        self.is_over = False

    def allows(self, length: int) -> bool:
        """May a frame of this length be handled now? If not, the lane goes on when the others had their turn."""
        if self._work < self._waiting.enough:
            self._work += HANDLED + DENSE * length
            return True
        self._work = 0
        self.is_over = True
        self._waiting.change(1)
        self._outbox.wake(self._tasks.token(self), 0)
        return False

    def go_on(self, value: object) -> None:
        """The others had their turn."""
        self.is_over = False
        self._waiting.change(-1)

    def drop(self) -> None:
        """The link is closed."""
        self._waiting.change(-1)
