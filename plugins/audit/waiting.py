"""Waiting: answers wait until their events are on disk. They share one thread, however many wait.

Rules:
* Answers wait in the order in which they came. One of them is the leader: it waits for the journal in a thread, 50 ms
  at a time. When it goes on or ends, it wakes the answers whose events are on disk or whose patience is over, and the
  oldest of the others becomes the leader.
* Each answer is woken once: for its event, for its deadline, or to lead.
* This code runs in the thread of the links. The journal writes in a thread of its own.
"""

from __future__ import annotations

from functools import partial

from plugins.audit.journal import Journal, JournalError
from proxy.plugin import Call, PluginClock, Signal, Steps, Wait

MOMENT = 0.05  # seconds
REFUSED = "the audit journal cannot be written, without which nothing is answered"


class _Waiter:
    def __init__(self, events: int, deadline: float) -> None:
        self.events, self.deadline = events, deadline
        self.signal = Signal()


class WaitingAnswers:
    """The answers that wait for one journal. `patience`: seconds for which each waits."""

    def __init__(self, journal: Journal, clock: PluginClock, patience: float) -> None:
        self._journal = journal
        self._clock = clock
        self._patience = patience
        self._waiting: dict[_Waiter, None] = {}  # the oldest first
        self._leader: _Waiter | None = None

    def until_on_disk(self, events: int) -> Steps:
        """Wait until this number of events is on disk. Raises JournalError if patience is over."""
        self._journal.hurry()
        mine = _Waiter(events, self._clock.now + self._patience)
        try:
            if self._leader is None:
                self._leader = mine
            else:
                self._waiting[mine] = None
                yield Wait(mine.signal)
            if self._leader is mine:
                yield from self._lead(mine)
        finally:
            self._waiting.pop(mine, None)
            if self._leader is mine:
                self._hand_over()
        if self._journal.on_disk < events:
            raise JournalError(REFUSED)
        return None

    def _is_over(self, waiter: _Waiter) -> bool:
        return self._journal.on_disk >= waiter.events or self._clock.now >= waiter.deadline

    def _lead(self, mine: _Waiter) -> Steps:
        while not self._is_over(mine):
            yield Call(partial(self._journal.wait, mine.events, MOMENT))
        return None

    def _hand_over(self) -> None:
        """Wake the answers that may go on, and make the oldest of the others the leader."""
        self._leader = None
        while self._waiting:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            is_over = self._is_over(oldest)
            if not is_over:
                self._leader = oldest
            oldest.signal.release()
            if not is_over:
                return
