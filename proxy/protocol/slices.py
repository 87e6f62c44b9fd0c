"""Slices: work that grows with the size of a message is done a little at a time, so that others are served meanwhile.

Rules:
* Such work is a generator, and its bare `yield` means: other connections may have their turn.
* A slice takes up to 1 or 2 ms: so many bytes when a message is read, so many elements when it is judged, so many
  fields when it is written. Elements without bytes take time too, so each counts as `READ` bytes more than it has.
* A message that is read in slices has a limit of elements. They are counted before they are made, in units: a struct, a
  text, an id or a tagged field counts `ELEMENT`, a number `NUMBER`, which is an eighth. In a request a partition counts
  as an element even if it is a number, since it has an answer of its own.
* Most elements of a large request are partitions. The others, such as topics, have texts and arrays of their own, and
  the answer repeats them. A sixth of all elements may be such others, and always `OTHERS`.
* A message with few elements (`FEW`) is read in one go: slices take 100 us more, and nearly all messages have few. C
  code counts them, in about 1 us. Where they are not known, and in a message longer than `LIGHT`, only a small request
  (up to `LARGE_REQUEST`) or answer (up to `LARGE`) is read in one go.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TypeVar

LARGE = 4 << 10  # bytes; to look at as many elements as fit in these takes up to 5 ms
LARGE_REQUEST = 512  # bytes; to judge and refuse as many elements as fit in these takes up to 4 ms
LIGHT = 64 << 10  # bytes; to copy as many takes 10 us
FEW = 100  # elements; judging as many takes up to 3 ms
BYTES = 16 << 10  # bytes of a message that are read in one slice, unless one of its values is longer
ELEMENTS = 50  # elements that are judged in one slice, at up to 30 us each
READ = 32  # bytes that can be read while an element is made, whatever it contains
WRITTEN = 2_000  # fields that are written in one slice, at up to 1 us each
NUMBERS = 8 << 10  # numbers that are read or written at a time
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
    """How many elements of a request may be no partitions, if it may have `most` in all."""
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
        """Is it the others' turn? Call this once for each element."""
        self._left -= 1
        if self._left:
            return False
        self._left = ELEMENTS
        return True

    def all(self, values: Iterable[T]) -> Sliced[list[T]]:
        """A list of these values, which are made one after the other."""
        found: list[T] = []
        for value in values:
            found.append(value)
            if self.is_due():
                yield
        return found
