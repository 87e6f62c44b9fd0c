"""Releases: until when a fault holds a request or an answer.

Rules:
* It holds until it is released, changed or removed, or until all counts begin anew (another generation).
* A fault that is removed and added again between two looks is another one, and holds nothing of the earlier one's.
* A plugin that was replaced holds nothing: later releases reach only its successor.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from plugins.faults.fault_set import FaultSet
from plugins.faults.model import FaultRule
from plugins.faults.overlay import Overlay


class FaultReleases:
    """The releases of the faults of an overlay."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay
        self._numbers = count()
        self._released: dict[str, int] = {}  # by name; a new number at each release, and when the fault changes
        self._is_replaced = False

    def follow(self, before: FaultSet, faults: FaultSet) -> None:
        """Other faults are in force: those that changed hold nothing any more."""
        for name in before.named.keys() - faults.named.keys():
            self._released.pop(name, None)
        for name, fault in faults.named.items():
            if before.named.get(name) != fault:
                self.release(name)

    def release(self, name: str) -> None:
        """Release all requests and answers that this fault holds at this moment. From any thread."""
        self._released[name] = next(self._numbers)

    def release_all(self) -> None:
        """Hold nothing any more: another plugin has replaced this one."""
        self._is_replaced = True

    def holding(self, name: str, fault: FaultRule) -> Callable[[], bool]:
        """A function that says whether this fault still holds: it is unchanged, and was not released since now."""
        released, generation = self._released.get(name), self._overlay.value.generation

        def is_held() -> bool:
            faults = self._overlay.value
            is_released = self._released.get(name) != released or faults.generation != generation
            return not (is_released or self._is_replaced) and faults.named.get(name) == fault

        return is_held
