"""Turns: a lane does not do much work before the other connections have their turn.

Rules:
* Only frames that a plugin wants count as work: a frame that passes costs next to nothing, and is not counted. But a
  Produce request with acks 0 is: it has no answer, so that nothing else bounds how many of them are taken at a time.
  So is a header that must be read, since it may have tagged fields.
* Work is counted, not timed: a frame counts by its elements. Where these are not known it counts as if it were full of
  them: 500 bytes can be 120 elements, which take 4 ms.
* Work is counted anew at each look at the sockets: every connection that was ready has had a turn.
* The more lanes of a worker wait for their turn, the shorter is a turn, down to one frame. With turns of one length,
  50 clients that sent requests without end kept a small request waiting for 300 ms instead of 100.
* Between two looks at the sockets all lanes together do no more work than one lane may do alone. This is counted anew
  whenever a waiting lane has its turn. So frames that just pass do not wait long, however many clients ask something at
  the same moment. Beside 300 such clients they wait for 5 to 15 ms; without this rule it was 130 to 310.
* A lane with little work need not wait because others do. When it had to, new clients waited twice as long beside 200
  others.
"""

from __future__ import annotations

from proxy.core.waiting import WaitingTasks

# Work is in units of 1 us.
HANDLED = 40  # handlers look at a frame without elements
ASKED = 30  # they judge an element of a request, and refuse it
UNANSWERED = 4  # the acks of a request that passes are read, and it gets no answer
ANSWERED = 5  # they look at an element of a response
ENOUGH = 2_000
LEAST = 4  # bytes of an element


def work_of(length: int, few: int | None, each: int) -> int:
    """The work for a frame of this length, which has so few elements (None: nobody knows how many); `each`: for one."""
    return HANDLED + each * (length // LEAST if few is None else few)


class WaitingLanes:
    """The lanes of one worker that wait for their turn: `count` of them.

    `enough`: the work that each may do in its turn. `work`: what all lanes did since the last look at the sockets, or
    since one of these had its turn. `looks`: how often the sockets were looked at.
    """

    __slots__ = ("count", "enough", "looks", "work")

    def __init__(self) -> None:
        self.count = 0
        self.enough = ENOUGH
        self.work = 0
        self.looks = 0

    def begin_look(self) -> None:
        """The sockets are looked at: work is counted anew."""
        self.looks += 1
        self.work = 0

    def change(self, by: int) -> None:
        """So many more wait."""
        self.count += by
        self.enough = max(1, ENOUGH // (1 + self.count))  # with 0, none of 2,000 would ever go on


class Turn:
    """The work of one lane since the others had their turn, or since the last look. `is_over`: they have it now."""

    __slots__ = ("_left", "_look", "_tasks", "_waiting", "is_over")

    def __init__(self, tasks: WaitingTasks, waiting: WaitingLanes) -> None:
        self._tasks = tasks
        self._waiting = waiting
        self._left = ENOUGH  # work that it may still do
        self._look = waiting.looks  # the look at the sockets since which that is counted
        self.is_over = False

    def allows(self, work: int) -> bool:
        """May a frame that takes so much work be handled now? If not, the lane goes on after the others' turn."""
        waiting = self._waiting
        if self._look != waiting.looks:
            self._look, self._left = waiting.looks, waiting.enough  # as `_renew`, without a call
        if self._left > 0 and waiting.work < ENOUGH:
            self._left -= work
            waiting.work += work
            return True
        self.end()
        return False

    @property
    def is_spent(self) -> bool:
        """Did this lane do all the work of its turn?"""
        return self._left <= 0 and self._look == self._waiting.looks

    def end(self) -> None:
        """The others have their turn now."""
        self.is_over = True
        self._waiting.change(1)
        self._tasks.let_others(self)

    def count(self, work: int) -> None:
        """So much work was done, which need not be allowed. The frame behind it may have to wait."""
        if self._look != self._waiting.looks:
            self._renew()
        self._left -= work
        self._waiting.work += work

    def _renew(self) -> None:
        self._look, self._left = self._waiting.looks, self._waiting.enough

    def go_on(self, value: object) -> None:
        """The others had their turn."""
        self.is_over = False
        self._waiting.work = 0
        self._waiting.change(-1)
        self._renew()

    def drop(self) -> None:
        """The link is closed."""
        self._waiting.change(-1)
