"""Signals: a handler waits until other code releases its signal.

    def heartbeat(self, ctx, request):
        yield Wait(self.released)       # until self.released.release() is called
        return None

Rules:
* A signal is released once and stays released: a handler that waits for it later goes on at once.
* Waiters are held by weak references: nothing is left of a link that ended before the release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

W = TypeVar("W")


class Signal:
    """Holds back handlers until it is released, from the thread of the links that wait."""

    __slots__ = ("_waiting", "is_released")

    def __init__(self) -> None:
        self.is_released = False
        self._waiting: WeakKeyDictionary[Any, list[Callable[[Any], None]]] = WeakKeyDictionary()

    def on_release(self, waiter: W, go_on: Callable[[W], None]) -> None:
        """Call `go_on(waiter)` once the signal is released, if the waiter still exists."""
        if self.is_released:
            go_on(waiter)
        else:
            self._waiting.setdefault(waiter, []).append(go_on)

    def release(self) -> None:
        """Let all waiters go on, also those that come later."""
        self.is_released = True
        waiting = list(self._waiting.items())
        self._waiting.clear()
        for waiter, steps in waiting:
            for go_on in steps:
                go_on(waiter)
