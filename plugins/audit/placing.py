"""Placing: where a segment differs from what was sealed, event by event.

Rules:
* The lines that are found are compared with the sealed checksums of all lines. A longest increasing subsequence of them
  is in its place. Any other line was moved, repeated, or is not one of the sealed lines.
* An unknown line in the place of a missing one is that line, altered. A line that is missing where bytes are no frame
  was made unreadable.
* The time is n log n in the number of lines, however they were shuffled.
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
    """A change to the sealed events from `first` to `last`; insertions are before `first`, as many as the range."""

    change: Tampering
    first: int
    last: int


class Damage(NamedTuple):
    """Bytes of a segment that are no frame."""

    start: int
    end: int


def pieces(data: bytes) -> Iterator[list[bytes] | Damage]:
    """The lines of each frame, and the bytes between frames. A frame is tried wherever one may begin."""
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
    """The changes to the events of a segment, by their places in it, from 0 on."""
    checks = [sealed[start : start + CHECK] for start in range(0, len(sealed), CHECK)]
    places: dict[bytes, list[int]] = {}
    for place in range(len(checks) - 1, -1, -1):
        places.setdefault(checks[place], []).append(place)  # the first place is taken first
    found: list[int | None] = []  # the sealed place of each line
    damaged: set[int] = set()  # the lines before which bytes are unreadable
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
    tails: list[int] = []  # the last place of the best subsequence of each length
    ends: list[int] = []  # and the index of that place
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
    """The changes, with equal ones of neighbours joined."""
    merged: list[PlacedChange] = []
    for one in sorted(found, key=lambda it: (it.first, it.change.value)):
        last = merged[-1] if merged else None
        if last and last.change is one.change is not Tampering.INSERTED and last.last + 1 == one.first:
            merged[-1] = last._replace(last=one.last)
        else:
            merged.append(one)
    return merged
