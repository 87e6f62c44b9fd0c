"""Placing: where a segment differs from what was sealed, event by event.

Rules:
* The lines that are found are compared with the sealed checks of all lines. Those in their order are as they were (a
  longest increasing subsequence); any other is moved, repeated, or not one of them.
* A line that is not one of them, where one is missing, is that one, altered. What is missing where bytes are no frame
  was made unreadable.
* The work is n log n in the lines, however they were shuffled.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from plugins.audit.frames import DamagedError, frame_end, frame_lines
from plugins.audit.segments import CHECK
from plugins.audit.segments import checks as checks_of

MAGIC = b"\x28\xb5\x2f\xfd"


class Tampering(Enum):
    """What was done to events."""

    ALTERED = "altered"
    CUT_OFF = "cut off"
    DELETED = "deleted"
    INSERTED = "inserted"
    MOVED = "moved"
    REPEATED = "repeated"
    UNREADABLE = "made unreadable"


class PlacedChange(NamedTuple):
    """It was done to the sealed events from `first` to `last`; of what was inserted: before `first`, so many."""

    change: Tampering
    first: int
    last: int


class Damage(NamedTuple):
    """Bytes of a segment that are no frame."""

    start: int
    end: int


def pieces(data: bytes) -> Iterator[list[bytes] | Damage]:
    """The lines of each frame, and what lies between frames. A frame is looked for wherever one may begin."""
    position = 0
    while position < len(data):
        start, lines = position, None
        while lines is None and position < len(data):
            try:
                end = frame_end(data, position)
                lines = frame_lines(data[position:end])
            except DamagedError:
                found = data.find(MAGIC, position + 1)
                position = len(data) if found < 0 else found
        if position > start:
            yield Damage(start, position)
        if lines is not None:
            yield lines
            position = end


def changes(sealed: bytes, data: bytes) -> list[PlacedChange]:
    """What was done to the events of a segment, by their places in it from 0 on."""
    checks = [sealed[start : start + CHECK] for start in range(0, len(sealed), CHECK)]
    places: dict[bytes, list[int]] = {}
    for place in range(len(checks) - 1, -1, -1):
        places.setdefault(checks[place], []).append(place)  # the first one is taken first
    found: list[int | None] = []  # of each line the place that it was sealed at
    damaged: set[int] = set()  # before which lines something is unreadable
    for piece in pieces(data):
        if isinstance(piece, Damage):
            damaged.add(len(found))
            continue
        for line in piece:
            there = places.get(checks_of([line]))
            found.append(None if there is None else there.pop() if len(there) > 1 else there[0])
    return _merged(_compared(len(checks), found, damaged))


def _compared(size: int, found: list[int | None], damaged: set[int]) -> Iterator[PlacedChange]:
    kept = _in_order(found)
    counts = Counter(place for place in found if place is not None)
    anchors = [(-1, -1), *((index, place) for index in kept if (place := found[index]) is not None), (len(found), size)]
    for (index, place), (next_index, next_place) in pairwise(anchors):
        lost = [one for one in range(place + 1, next_place) if not counts[one]]
        strange = sum(found[one] is None for one in range(index + 1, next_index))
        unreadable = any(one in damaged for one in range(index + 1, next_index + 1))
        rest = lost[strange:]
        yield from (PlacedChange(Tampering.ALTERED, one, one) for one in lost[:strange])
        if strange > len(lost):
            yield PlacedChange(Tampering.INSERTED, place + 1, place + strange - len(lost))
        gone = Tampering.UNREADABLE if unreadable else Tampering.CUT_OFF if next_place == size else Tampering.DELETED
        yield from (PlacedChange(gone, one, one) for one in rest)
    kept_places = {found[index] for index in kept}
    for one in sorted(counts):
        if one not in kept_places:
            yield PlacedChange(Tampering.MOVED, one, one)
        elif counts[one] > 1:
            yield PlacedChange(Tampering.REPEATED, one, one)


def _in_order(found: list[int | None]) -> list[int]:
    """The indexes of a longest strictly increasing subsequence."""
    tails: list[int] = []  # of the best subsequence of each length: its last place
    ends: list[int] = []  # and that one's index
    before: dict[int, int | None] = {}
    for index, place in enumerate(found):
        if place is None:
            continue
        length = bisect_left(tails, place)
        before[index] = ends[length - 1] if length else None
        tails[length : length + 1] = [place]
        ends[length : length + 1] = [index]
    kept: list[int] = []
    last = ends[-1] if ends else None
    while last is not None:
        kept.append(last)
        last = before[last]
    return kept[::-1]


def _merged(found: Iterable[PlacedChange]) -> list[PlacedChange]:
    """Neighbours to which the same was done, as one."""
    merged: list[PlacedChange] = []
    for one in sorted(found, key=lambda it: (it.first, it.change.value)):
        last = merged[-1] if merged else None
        if last and last.change is one.change is not Tampering.INSERTED and last.last + 1 == one.first:
            merged[-1] = last._replace(last=one.last)
        else:
            merged.append(one)
    return merged
