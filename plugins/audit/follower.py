"""Follower: the newest events of a journal, and then those that are added to it.

Rules:
* Of a segment that was read already, only what was added is read.
* After the first look only four folders are read: those of the two latest hours, and those of the present hour and the
  one before. These are other ones after the clock was set back.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

from plugins.audit.event_reading import JournalEvent, event_of, merged, segment_bytes, whole_events
from plugins.audit.frames import last_frames
from plugins.audit.segments import SegmentName, by_chain, hours, of_hour, placed, segments

HOUR = 3600
SEALED = sys.maxsize  # stands for the end of a segment that grows no more


class Follower:
    """The `newest` events of a journal, at most `many`, and then each event that is added to it, once.

    `wall` gives seconds since 1970.
    """

    def __init__(self, journal: Path, many: int, wall: Callable[[], float]) -> None:
        self._wall = wall
        self._journal = journal
        self._ends: dict[Path, int] = {}  # the position up to which each segment was read
        latest = [("", events) for events in self._latest(many)]
        self.newest: list[JournalEvent] = list(deque(merged(latest), maxlen=many))

    def _latest(self, many: int) -> Iterator[Iterable[JournalEvent]]:
        """The latest events of each chain, at most `many` of each."""
        self._ends = dict.fromkeys(segments(self._journal), SEALED)
        found = placed(self._journal)  # a segment that began since then is among these alone, and may still grow
        for names in by_chain(found).values():
            backwards = chain.from_iterable(self._backwards(found[name]) for name in reversed(names))
            yield reversed([*islice(backwards, max(many, 1))])  # one at least: from its segment on, all are to come

    def _backwards(self, path: Path) -> Iterator[JournalEvent]:
        """The events of a segment, the last one first. A large one has half a million, and only some are wanted."""
        self._ends[path], backwards = last_frames(segment_bytes(path))
        return filter(None, (event_of(line) for lines in backwards for line in reversed(lines)))

    def _read(self, path: Path, start: int) -> Iterator[JournalEvent]:
        self._ends[path], events = whole_events(segment_bytes(path), start)
        return events

    def more(self) -> list[JournalEvent]:
        """The events that came since the last look."""
        found: list[Iterable[JournalEvent]] = []
        for path in self._recent():
            with suppress(FileNotFoundError):  # deleted since the folder was read
                start = self._ends.get(path, 0)
                if path.stat().st_size > start:
                    found.append(self._read(path, start))
        return list(merged(("", events) for events in found))

    def _recent(self) -> list[Path]:
        latest = islice(hours(self._journal, newest_first=True), 2)
        now = self._wall()
        present = (self._journal / SegmentName.at(at, "", 0, 1).path.parent for at in (now - HOUR, now))
        return [path for folder in sorted({*latest, *present}) for path in of_hour(folder)]
