"""Slices: work that grows with what was sent is done a little at a time, so that everybody else is served meanwhile.

Rules:
* Such work is a generator, and a bare `yield` of it says: the others may have their turn.
* A slice takes up to 1 or 2 ms: so many bytes where a message is read, so many elements where it is judged or written.
* What is read so has a limit of elements, and is counted before any of it is made. Eight numbers count as one element.
* What is small (`LARGE`) is read in one go: that is quicker, and nearly all messages are.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TypeVar

LARGE = 4 << 10  # bytes; judging as many elements as fit in these takes up to 15 ms
BYTES = 16 << 10  # of a message that are read in one slice, unless one of its values is longer
ELEMENTS = 50  # that are judged in one slice, at up to 15 us each
WRITTEN = 1_000  # that are written in one slice
NUMBERS = 8 << 10  # that are read or written at a time
NUMBERS_TO_AN_ELEMENT = 8

T = TypeVar("T")
Sliced = Generator[None, None, T]


class TooMany(Exception):  # noqa: N818 (a signal inside the codec, not an error that anyone sees)
    """A message has more elements than it may have."""


class Pace:
    """Counts the elements of one slice.

    for element in elements:
        if pace.is_due():
            yield
    """

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = ELEMENTS

    def is_due(self) -> bool:
        """Have the others their turn? To be asked once for each element."""
        self._left -= 1
        if self._left:
            return False
        self._left = ELEMENTS
        return True

    def all(self, values: Iterable[T]) -> Sliced[list[T]]:
        """A list of these, which are made one after the other."""
        found: list[T] = []
        for value in values:
            found.append(value)
            if self.is_due():
                yield
        return found
