"""Remembered: what a check knows of groups and their members, bounded in number and in bytes.

Rules:
* Where it would be too much, the oldest entries are forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MOST = 100_000  # entries
ROOM = 64 << 20  # bytes of all entries
NAME = 16  # bytes of a name beside its text: its place in a list, and what the allocator adds


class Remembered(Generic[K, V]):
    """Values by key. Whoever puts one says how many bytes it takes."""

    def __init__(self) -> None:
        self._entries: dict[K, tuple[V, int]] = {}  # the oldest is the first
        self.held = 0  # bytes of all entries; a connection counts those in its notes by this name

    def get(self, key: K) -> V | None:
        """The value for a key; None if there is none."""
        entry = self._entries.get(key)
        return None if entry is None else entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Remember this value, in place of the one before it."""
        self.forget(key)
        self._entries[key] = value, size
        self.held += size
        while len(self._entries) > MOST or self.held > ROOM:
            self.forget(next(iter(self._entries)))

    def forget(self, key: K) -> None:
        """There is no value for this key any more."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.held -= entry[1]
