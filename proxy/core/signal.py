"""Signals: what a handler waits for that neither time nor a broker brings.

    def heartbeat(self, ctx, request):
        yield Wait(self.released)       # until somebody says self.released.release()
        return None

# A signal is released once and stays so: whoever waits for it later goes on at once.
"""

from __future__ import annotations

from collections.abc import Callable


class Signal:
    """Holds back handlers until it is released. To be released from the thread of the links that wait."""

    __slots__ = ("_waiting", "is_released")

    def __init__(self) -> None:
        self.is_released = False
        self._waiting: list[Callable[[], None]] = []

    def on_release(self, go_on: Callable[[], None]) -> None:
        """Call this once it is released."""
        if self.is_released:
            go_on()
        else:
            self._waiting.append(go_on)

    def release(self) -> None:
        """Let all go on that wait, and all that come."""
        self.is_released = True
        waiting, self._waiting = self._waiting, []
        for go_on in waiting:
            go_on()
