"""Shared work: one result for all who wait for it, however many they are.

Rules:
* Nobody is given what was begun before they asked: a result shows everything that happened before the question.
* One is made at a time, and the next begins a while after the one before began. So a flood of questions costs no more
  than a few of them, and who asks less often than that never waits.
* A failure is that of one who asked. The next one who waits tries again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from math import inf
from typing import Generic, TypeVar

import trio

T = TypeVar("T")


class SharedWork(Generic[T]):
    """Work whose result may be shared. `every`: seconds at least from one beginning to the next."""

    def __init__(self, do: Callable[[], Awaitable[T]], every: float) -> None:
        self._do = do
        self._every = every
        self._turn = trio.Lock()
        self._begun = 0  # how often the work was begun
        self._not_before = -inf
        self._done: tuple[int, T] | None = None  # the latest result, and which beginning it is of

    async def result(self) -> T:
        """A result of work that begins from now on."""
        begun_before = self._begun
        async with self._turn:
            if self._done is None or self._done[0] <= begun_before:
                await trio.sleep_until(self._not_before)
                self._done = await self._made()
            return self._done[1]

    async def _made(self) -> tuple[int, T]:
        self._begun += 1
        self._not_before = trio.current_time() + self._every
        return self._begun, await self._do()
