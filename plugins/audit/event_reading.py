"""Reading events: those of segments, one after the other, and those of several chains by their time.

Rules:
* The events of a chain stay in its order; chains are merged by the time of their events. A chain is opened when the
  time of its beginning is reached, and read frame by frame: memory grows with the chains of one time, not with all.
* Lines that are no event (`well_formed.py`), and frames that are not whole, are left out: `verify` reports them.
* A segment that is pruned after it was listed is left out.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from plugins.audit.frames import frames
from plugins.audit.well_formed import is_event

JournalEvent = dict[str, Any]


def merged(streams: Iterable[tuple[str, Iterable[JournalEvent]]]) -> Iterator[JournalEvent]:
    """Merge events by their time; each stream stays in its order, and begins when its own time is reached."""
    heap: list[tuple[str, int, JournalEvent | None, Iterator[JournalEvent]]] = [
        (begins, number, None, iter(stream)) for number, (begins, stream) in enumerate(streams)
    ]
    heapq.heapify(heap)
    while heap:
        _, number, event, stream = heap[0]
        if event is not None:
            yield event
        following = next(stream, None)
        if following is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, (str(following["time"]), number, following, stream))


def events_of(paths: Iterable[Path]) -> Iterator[JournalEvent]:
    """The events of these segments, in their order."""
    for path in paths:
        for _, lines in frames(segment_bytes(path)):
            yield from filter(None, map(event_of, lines))


def segment_bytes(path: Path) -> bytes:
    """The bytes of a segment; none if it was deleted since it was listed."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def whole_events(data: bytes, start: int) -> tuple[int, Iterator[JournalEvent]]:
    """The end of the whole frames from `start` on, and their events."""
    lines: list[bytes] = []
    end = start
    for end, more in frames(data, start):  # noqa: B007 (the last one counts)
        lines += more
    return end, filter(None, map(event_of, lines))


def event_of(line: bytes) -> JournalEvent | None:
    """The event in a line; None: it is no event."""
    try:
        event = from_json(line)
    except ValueError:
        return None
    return event if is_event(event) else None
