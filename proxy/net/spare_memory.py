"""Spare memory: returns to the system what Python and the C library keep of memory that nothing uses any more.

Rules:
* It is returned when connections hold less than half of what they held lately. It is returned again a second and four
  seconds later, since some objects are kept for reuse, and a journal may still write what the connections said.
* Much is used for a moment that nobody counts: tokens that are checked, what OpenSSL keeps for a connection. When the
  process has grown by much more than what connections hold, or much of that is said to be freed, memory is returned
  after the same times.
* Returning takes 1 ms and more. Where little would come of it, nothing is done.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import maxsize

import trio

from proxy.net.machine import give_back, resident

MUCH = 4 << 20  # bytes
AGAIN = 1.0, 4.0  # seconds until memory is returned again


class SpareMemory:
    """The memory of this process that may be returned. Sizes are in bytes."""

    def __init__(self, give_back: Callable[[], None] = give_back, resident: Callable[[], int] = resident) -> None:
        self._give_back = give_back
        self._resident = resident
        # The least bytes of the process since memory was returned, and the least beside those held.
        self._taken = self._beside = maxsize
        self._most_lately = 0  # the most that was held since then
        self._freed = 0  # what was not counted and was freed since then
        self._again: list[float] = []  # when memory is returned again

    def saw(self, held: int) -> None:
        """Connections hold so much, for a moment at least."""
        self._most_lately = max(self._most_lately, held)

    def freed(self, size: int) -> None:
        """So much was freed that is not part of what connections hold."""
        self._freed += size

    def look(self, held: int) -> None:
        """Return memory, if it is time to. `held`: what connections hold now."""
        self.saw(held)
        if self._most_lately > MUCH and held < self._most_lately // 2:
            self._most_lately = held
            self._return_later()
            self._return(held)
        elif self._again:
            if trio.current_time() >= self._again[0]:
                del self._again[0]
                self._return(held)
        elif self._freed > MUCH or self._has_grown(held):
            self._return_later()

    def _has_grown(self, held: int) -> bool:
        """Has the process grown by much, and by much more than what is held?"""
        taken = self._resident()
        if not taken:
            return False
        beside = taken - held
        self._taken, self._beside = min(self._taken, taken), min(self._beside, beside)
        return min(taken - self._taken, beside - self._beside) > MUCH

    def _return_later(self) -> None:
        now = trio.current_time()
        self._again = [now + seconds for seconds in AGAIN]

    def _return(self, held: int) -> None:
        self._give_back()
        self._freed = 0
        taken = self._resident()
        self._taken, self._beside = (taken, taken - held) if taken else (maxsize, maxsize)
