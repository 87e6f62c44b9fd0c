"""Noted: how many bytes the notes of all requests in flight take. Each request is looked at once.

A connection may have a thousand requests in flight, and a worker ten thousand connections. Looking at all of them for
each count would take seconds.

Rules:
* Slots are a queue: new ones are added at the end, and answered ones leave at the front. The last slot of each count
  is remembered. At the next count, the slots behind it are new. The slots up to it were counted before, and those of
  them that are gone have left at the front.
* What is noted of a request does not change while it is in flight.
* A sample is kept by its connection anyway, and so are its notes: for a request that is like it they count nothing.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from proxy.core.context import Context


class Noted:
    """Counts what is noted of the requests in `slots` (`inflight.py` says what these are)."""

    __slots__ = ("_held", "_last", "_met", "_slots", "_some")

    def __init__(self, slots: deque[Any]) -> None:
        self._slots = slots
        self._met = 0  # the number of slots that were looked at so far
        self._last: object = None  # the last of these; it may have left
        self._some: deque[tuple[int, int]] = deque()  # those that hold something: their number, and the bytes
        self._held = 0

    def count(self) -> int:
        """The bytes that are noted of all requests in flight."""
        new = []
        for slot in reversed(self._slots):
            if slot is self._last:
                break
            new.append(slot)
        self._leave(self._met - (len(self._slots) - len(new)))
        for slot in reversed(new):
            size = _noted(slot[2])
            if size:
                self._some.append((self._met, size))
                self._held += size
            self._met += 1
        self._last = self._slots[-1] if self._slots else None
        return self._held

    def clear(self) -> None:
        """Nothing is in flight any more."""
        self._last, self._held = None, 0
        self._some.clear()

    def _leave(self, first: int) -> None:
        """Slots with a lower number than this are not in flight any more."""
        while self._some and self._some[0][0] < first:
            self._held -= self._some.popleft()[1]


def _noted(about: Any) -> int:
    if type(about) is Context:
        return 0 if about.sample else about.held
    if type(about) is tuple:  # a PendingCount
        held: int = about[1].held
        return held
    return 0
