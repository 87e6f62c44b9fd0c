"""Search: the events of a journal that match a filter, in the order of time, and new ones as they come.

Rules:
* Only the folders of the hours in question are read, and one more on each side: an event is written a little later than
  it happened, and a segment that was begun in one hour may end in the next. A segment is read too if it was written
  for longer, as one is while no other can be begun.
* The events of a chain stay in its order; chains are merged by the time of their events. A chain is opened when the
  time of its beginning is reached, and read frame by frame: memory grows with the chains of one time, not with all.
* Lines that are no event (`well_formed.py`), and frames that are not whole, are left out: `verify` reports them.
* A segment that is pruned after it was listed is left out.
* A segment that was moved is read where it is. One that exists twice is read once, at the path of its name.
"""

from __future__ import annotations

import heapq
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from plugins.audit.frames import frames, last_frames
from plugins.audit.pseudonyms import Pseudonyms
from plugins.audit.redaction import hashed
from plugins.audit.segments import SegmentName, hours, of_hour, placed, segments
from plugins.audit.well_formed import is_event

JournalEvent = dict[str, Any]
HOUR = 3600
MARGIN = timedelta(hours=1)
SEALED = sys.maxsize  # stands for the end of a segment that grows no more
OF_CLIENT = ("client_host", "client_id")  # kinds of names, as in rules of redaction
OF_RESOURCE = ("topic", "group", "transactional_id", "principal")


@dataclass(frozen=True)
class EventFilter:
    """Which events to find; None: any. A name with a `*` at its end is a prefix. Times are in UTC."""

    since: datetime | None = None
    until: datetime | None = None
    kind: str | None = None
    principal: str | None = None
    resource: str | None = None
    api: str | None = None
    error: str | None = None
    client: str | None = None
    pseudonyms: Pseudonyms | None = None  # to find names that are hashed in the journal

    def includes(self, event: JournalEvent) -> bool:
        """Whether the filter matches an event."""
        resources = [event.get("resource_name"), *(one.get("name") for one in event.get("resources") or ())]
        return (
            (self.since is None or event["time"] >= _text(self.since))
            and (self.until is None or event["time"] < _text(self.until))
            and _is(self.kind, [event["kind"]])
            and self._is_named(self.principal, [event.get("principal")], "principal")
            and _is(self.api, [event.get("api")])
            and self._is_named(self.client, [event.get("client_host"), event.get("client_id")], *OF_CLIENT)
            and _is(self.error, event.get("errors") or ())
            and self._is_named(self.resource, resources, *OF_RESOURCE)
        )

    def _is_named(self, wanted: str | None, there: Sequence[str | None], *kinds: str) -> bool:
        """Whether the wanted name is there, in clear or hashed as one of these kinds."""
        if wanted is None or self.pseudonyms is None:
            return _is(wanted, there)
        return _is(wanted, there) or any(one in there for one in hashed(self.pseudonyms, wanted, kinds))

    def may_be_in(self, name: SegmentName, ended: datetime | None = None) -> bool:
        """Whether a segment may have events that match. `ended`: when it was written last, if that is known."""
        begun = name.begun_at
        ended = begun if ended is None else max(begun, ended)
        if self.since is not None and ended < self.since.replace(minute=0, second=0, microsecond=0) - MARGIN:
            return False
        return self.until is None or begun < self.until + MARGIN


def _is(wanted: str | None, there: Iterable[str | None]) -> bool:
    if wanted is None:
        return True
    if wanted.endswith("*"):
        return any(one is not None and one.startswith(wanted[:-1]) for one in there)
    return any(one == wanted for one in there)


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def search(journal: Path, wanted: EventFilter) -> Iterator[JournalEvent]:
    """The events that match, by their time."""
    chains: dict[str, list[SegmentName]] = {}
    for name in sorted(found := placed(journal)):
        chains.setdefault(name.chain, []).append(name)
    wanted_of = ([*_of_period(names, found, wanted)] for names in chains.values())
    streams = ((_second(names[0]), _of_chain(found[name] for name in names)) for names in wanted_of if names)
    return filter(wanted.includes, _merged(streams))


def _of_period(
    names: Sequence[SegmentName], found: Mapping[SegmentName, Path], wanted: EventFilter
) -> Iterator[SegmentName]:
    """The segments of a chain that may have events that match. Each is written until the next one begins."""
    for name, following in zip_longest(names, names[1:]):
        if wanted.may_be_in(name, _written_last(found[name]) if following is None else following.begun_at):
            yield name


def _written_last(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except FileNotFoundError:
        return None


def _second(name: SegmentName) -> str:
    """The second in which a segment was begun, which the times of its events do not precede."""
    return f"{name.begun_at:%Y-%m-%dT%H:%M:%S}"


def _merged(streams: Iterable[tuple[str, Iterable[JournalEvent]]]) -> Iterator[JournalEvent]:
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


def _of_chain(paths: Iterable[Path]) -> Iterator[JournalEvent]:
    for path in paths:
        for _, lines in frames(_bytes(path)):
            yield from filter(None, map(_event, lines))


def _bytes(path: Path) -> bytes:
    """The bytes of a segment; none if it was deleted since it was listed."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _events(data: bytes, start: int) -> tuple[int, Iterator[JournalEvent]]:
    """The end of the whole frames from `start` on, and their events."""
    lines: list[bytes] = []
    end = start
    for end, more in frames(data, start):  # noqa: B007 (the last one counts)
        lines += more
    return end, filter(None, map(_event, lines))


def _event(line: bytes) -> JournalEvent | None:
    try:
        event = from_json(line)
    except ValueError:
        return None
    return event if is_event(event) else None


class Follower:
    """The `newest` events of a journal, at most `many`, and then each event that is added to it, once.

    After the first look only four folders are read: those of the two latest hours, and those of the present hour and
    the one before. These are other ones after the clock was set back. `wall` gives seconds since 1970.
    """

    def __init__(self, journal: Path, many: int, wall: Callable[[], float]) -> None:
        self._wall = wall
        self._journal = journal
        self._ends: dict[Path, int] = {}  # the position up to which each segment was read
        latest = [("", events) for events in self._latest(many)]
        self.newest: list[JournalEvent] = list(deque(_merged(latest), maxlen=many))

    def _latest(self, many: int) -> Iterator[Iterable[JournalEvent]]:
        """The latest events of each chain, at most `many` of each."""
        self._ends = dict.fromkeys(segments(self._journal), SEALED)
        found = placed(self._journal)  # a segment that began since then is among these alone, and may still grow
        chains: dict[str, list[SegmentName]] = {}
        for name in sorted(found):
            chains.setdefault(name.chain, []).append(name)
        for names in chains.values():
            backwards = chain.from_iterable(self._backwards(found[name]) for name in sorted(names, reverse=True))
            yield reversed([*islice(backwards, max(many, 1))])  # one at least: from its segment on, all are to come

    def _backwards(self, path: Path) -> Iterator[JournalEvent]:
        """The events of a segment, the last one first. A large one has half a million, and only some are wanted."""
        self._ends[path], backwards = last_frames(_bytes(path))
        return filter(None, (_event(line) for lines in backwards for line in reversed(lines)))

    def _read(self, path: Path, start: int) -> Iterator[JournalEvent]:
        self._ends[path], events = _events(_bytes(path), start)
        return events

    def more(self) -> list[JournalEvent]:
        """The events that came since the last look."""
        found: list[Iterable[JournalEvent]] = []
        for path in self._recent():
            with suppress(FileNotFoundError):  # deleted since the folder was read
                start = self._ends.get(path, 0)
                if path.stat().st_size > start:
                    found.append(self._read(path, start))
        return list(_merged(("", events) for events in found))

    def _recent(self) -> list[Path]:
        latest = islice(hours(self._journal, newest_first=True), 2)
        now = self._wall()
        present = (self._journal / SegmentName.at(at, "", 0, 1).path.parent for at in (now - HOUR, now))
        return [path for folder in sorted({*latest, *present}) for path in of_hour(folder)]
