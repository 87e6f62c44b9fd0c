"""Settling: memory is given back some time after it was used, when nobody holds it for a moment longer.

A thread, for one, holds its last result until it runs again.
"""

from __future__ import annotations

from collections.abc import Callable

import trio

from proxy.net.machine import give_back

AFTER = 1.0  # seconds


class Settling:
    """Who used much memory for a moment says so, with `ask`."""

    def __init__(self, give_back: Callable[[], None] = give_back) -> None:
        self._give_back = give_back
        self._asked = trio.Event()

    def ask(self) -> None:
        """Give memory back soon."""
        self._asked.set()

    async def run(self) -> None:
        """Do so some time after it was asked, until cancelled: once for all who ask meanwhile, once more after that."""
        while True:
            await self._asked.wait()
            self._asked = trio.Event()
            await trio.sleep(AFTER)
            self._give_back()
