"""Later return: returns memory to the system some time after it was used, when nothing holds it any more.

Some references last a little longer. A thread, for example, holds its last result until it runs again.
"""

from __future__ import annotations

from collections.abc import Callable

import trio

from proxy.net.machine import give_back

AFTER = 1.0  # seconds to wait before memory is returned


class LaterReturn:
    """Returns memory after `ask`, which is called after much memory was used for a moment."""

    def __init__(self, give_back: Callable[[], None] = give_back) -> None:
        self._give_back = give_back
        self._asked = trio.Event()

    def ask(self) -> None:
        """Return memory soon."""
        self._asked.set()

    async def run(self) -> None:
        """Return memory some time after each `ask`, until cancelled. Calls while it waits cause one more round."""
        while True:
            await self._asked.wait()
            self._asked = trio.Event()
            await trio.sleep(AFTER)
            self._give_back()
