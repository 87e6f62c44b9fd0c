"""Turns: a lane does not do much work before the other connections have their turn.

Rules:
* Only frames that a plugin wants count as work: a frame that passes costs next to nothing, and is not counted.
* Work is counted, not timed: a frame counts by its length, and by the least time of its handlers. A small frame may be
  full of elements, at 2 us a byte: two such frames take 20 ms.
* The more lanes of a worker wait for their turn, the shorter is a turn, down to one frame. With turns of one length,
  50 clients that sent requests without end kept a small request waiting for 300 ms instead of 100.
* While a lane waits for its turn, all others that have work wait too. And before one waits, all lanes together do no
  more work than one may do alone. So between two looks at the sockets there is little work, however many clients ask
  something at the same moment: 300 of them kept those whose frames just pass waiting for 130 to 310 ms, now 5 to 15.
"""

from __future__ import annotations

from proxy.core.outbox import Outbox
from proxy.core.waiting import WaitingTasks

HANDLED = 500  # bytes that can be read while handlers look at a small message, about 40 us
LIGHT_FRAME = 1_000  # bytes that can be read while a large frame with few elements is handled, about 150 us
DENSE = 4  # factor by which a frame's bytes count, since it may be full of elements
ENOUGH = 32 << 10  # bytes: about 2 ms, if frames are not dense


class WaitingLanes:
    """The lanes of one worker that wait for their turn: `count` of them.

    `enough`: the work that each may do in its turn. `work`: what all lanes did since one of these had its turn.
    """

    __slots__ = ("count", "enough", "work")

    def __init__(self) -> None:
        self.count = 0
        self.enough = ENOUGH
        self.work = 0

    def change(self, by: int) -> None:
        """So many more wait."""
        self.count += by
        self.enough = ENOUGH // (1 + self.count)


class Turn:
    """The work of one lane since the others had their turn. `is_over`: they have it now."""

    __slots__ = ("_left", "_outbox", "_tasks", "_waited", "_waiting", "is_over")

    def __init__(self, tasks: WaitingTasks, outbox: Outbox, waiting: WaitingLanes) -> None:
        self._tasks = tasks
        self._outbox = outbox
        self._waiting = waiting
        self._left = ENOUGH  # work that it may do in this turn
        self._waited = False  # for this turn
        self.is_over = False

    def allows(self, length: int) -> bool:
        """May a frame of this length be handled now? If not, the lane goes on when the others had their turn."""
        waiting = self._waiting
        if self._left > 0 and (self._waited or not waiting.count) and waiting.work < ENOUGH:
            work = HANDLED + DENSE * length
            self._left -= work
            waiting.work += work
            return True
        self._waited = False
        self.is_over = True
        waiting.change(1)
        self._outbox.wake(self._tasks.token(self), 0)
        return False

    def go_on(self, value: object) -> None:
        """The others had their turn."""
        self._waited = True
        self.is_over = False
        self._waiting.work = 0
        self._waiting.change(-1)
        self._left = self._waiting.enough

    def drop(self) -> None:
        """The link is closed."""
        self._waiting.change(-1)
