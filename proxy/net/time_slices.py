"""Time slices: work that grows with the input of clients and brokers lets other tasks run after each millisecond.

Nothing else runs in a thread of trio until a task awaits, so all connections wait for the longest piece of work.
"""

from __future__ import annotations

import time

import trio

SLICE = 0.001  # seconds


class TimeSlice:
    """A slice of work, which begins when this is made."""

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until = time.perf_counter() + SLICE

    @property
    def is_over(self) -> bool:
        """Should other tasks run now?"""
        return time.perf_counter() >= self._until

    async def let_others_run(self) -> None:
        """If the slice is over, have other tasks run, and begin another."""
        if self.is_over:
            await trio.lowlevel.checkpoint()
            self._until = time.perf_counter() + SLICE
