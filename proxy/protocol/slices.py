"""Slices: work that grows with what was sent is done a little at a time, so that everybody else is served meanwhile.

Rules:
* Such work is a generator, and a bare `yield` of it says: the others may have their turn.
* A slice takes up to 1 or 2 ms: so many bytes where a message is read, so many elements where it is judged or written.
* What is read so has a limit of elements, and is counted before any of it is made, in units: a struct, a text, an
  id or a tagged field counts `ELEMENT`, a number `NUMBER`, which is an eighth. In a request a partition counts as an
  element also where it is a number, since it has an answer of its own.
* Most elements of a large request are partitions. The others, such as topics, have texts and arrays of their own, and
  the answer repeats them: of these there may be a sixth as many, and always `OTHERS`.
* What is small (`LARGE`) is read in one go: that is quicker, and nearly all messages are. So is what is longer
  (`LIGHT`) and has few elements, as one batch of records: a task in slices takes 100 us.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TypeVar

LARGE = 4 << 10  # bytes; judging as many elements as fit in these takes up to 15 ms
LIGHT = 64 << 10  # bytes; to copy as many takes 10 us
BYTES = 16 << 10  # of a message that are read in one slice, unless one of its values is longer
ELEMENTS = 50  # that are judged in one slice, at up to 15 us each
WRITTEN = 1_000  # that are written in one slice
NUMBERS = 8 << 10  # that are read or written at a time
ELEMENT, NUMBER = 8, 1  # units
OTHERS = 50_000  # elements of a request that are no partitions; the largest clusters have fewer topics
PARTITIONS_TO_ANOTHER = 6

T = TypeVar("T")
Sliced = Generator[None, None, T]


class TooMany(Exception):  # noqa: N818 (a signal inside the codec, not an error that anyone sees)
    """A message has more elements than it may have."""


class TooManyOthers(TooMany):
    """A request has more elements that are no partitions than it may have."""


def others(most: int) -> int:
    """How many elements of a request may be no partitions, where it may have so many in all."""
    return max(OTHERS, most // PARTITIONS_TO_ANOTHER)


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
