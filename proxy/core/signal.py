"""Signals: what a handler waits for that neither time nor a broker brings.

    def heartbeat(self, ctx, request):
        yield Wait(self.released)       # until somebody says self.released.release()
        return None

# A signal is released once and stays so: whoever waits for it later goes on at once.
# Whoever waits is not kept: nothing is left of a link that ended before the release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

W = TypeVar("W")


class Signal:
    """Holds back handlers until it is released. To be released from the thread of the links that wait."""

    __slots__ = ("_waiting", "is_released")

    def __init__(self) -> None:
        self.is_released = False
        self._waiting: WeakKeyDictionary[Any, list[Callable[[Any], None]]] = WeakKeyDictionary()

    def on_release(self, waiter: W, go_on: Callable[[W], None]) -> None:
        """Call `go_on(waiter)` once it is released, if the waiter is still there."""
        if self.is_released:
            go_on(waiter)
        else:
            self._waiting.setdefault(waiter, []).append(go_on)

    def release(self) -> None:
        """Let all go on that wait, and all that come."""
        self.is_released = True
        waiting = list(self._waiting.items())
        self._waiting.clear()
        for waiter, steps in waiting:
            for go_on in steps:
                go_on(waiter)
