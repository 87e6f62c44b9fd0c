"""Time slices: work that grows with what clients and brokers say has other tasks run after each millisecond.

Nothing else runs in a thread of trio until a task awaits, so all connections wait for the longest piece of work.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Collection
from typing import TypeVar

import trio

SLICE = 0.001  # seconds

T = TypeVar("T")


class TimeSlice:
    """A slice of work, which begins when this is made."""

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until = time.perf_counter() + SLICE

    @property
    def is_over(self) -> bool:
        """Should other tasks run now?"""
        return time.perf_counter() >= self._until


async def in_slices(items: Collection[T]) -> AsyncIterator[T]:
    """These items as they are now. Work on them is done in slices: after any item, others may have changed them."""
    now = TimeSlice()
    for item in tuple(items):
        yield item
        if now.is_over:
            await trio.lowlevel.checkpoint()
            now = TimeSlice()
