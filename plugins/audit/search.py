"""Search: the events of a journal in the order of time, those that somebody asks for, and new ones as they come.

Rules:
* Only the folders of the hours in question are read, and one more on each side: an event is written a little later than
  it happened, and a segment that was begun in one hour may end in the next.
* A chain is in its own order; chains are merged by the time of their events.
* What is no event, or in no whole frame, is left out: `verify` is there to say so.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from plugins.audit.segments import SegmentName, frames, segments

JournalEvent = dict[str, Any]
MARGIN = timedelta(hours=1)


@dataclass(frozen=True)
class EventFilter:
    """Which events; None: whichever. A name with a `*` at its end stands for all that begin so. Times are in UTC."""

    since: datetime | None = None
    until: datetime | None = None
    kind: str | None = None
    principal: str | None = None
    resource: str | None = None
    api: str | None = None
    error: str | None = None
    client: str | None = None

    def includes(self, event: JournalEvent) -> bool:
        """Is it one of them?"""
        resources = event.get("resources") or ()
        return (
            (self.since is None or event["time"] >= _text(self.since))
            and (self.until is None or event["time"] < _text(self.until))
            and _is(self.kind, [event["kind"]])
            and _is(self.principal, [event.get("principal")])
            and _is(self.api, [event.get("api")])
            and _is(self.client, [event.get("client_host"), event.get("client_id")])
            and _is(self.error, event.get("errors") or ())
            and _is(self.resource, [resource.get("name") for resource in resources])
        )

    def may_be_in(self, name: SegmentName) -> bool:
        """May a segment have such events?"""
        begun = datetime.strptime(name.begun, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        if self.since is not None and begun < self.since.replace(minute=0, second=0, microsecond=0) - MARGIN:
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
    """The events that are wanted, by their time."""
    chains: dict[str, list[SegmentName]] = {}
    for path in segments(journal):
        name = SegmentName.of(path)
        if name is not None and wanted.may_be_in(name):
            chains.setdefault(name.chain, []).append(name)
    streams = (_of_chain(journal, sorted(names)) for names in chains.values())
    return filter(wanted.includes, _merged(streams))


def latest(journal: Path, many: int) -> list[JournalEvent]:
    """The newest events, so many, by their time."""
    chains: dict[str, list[SegmentName]] = {}
    for path in segments(journal):
        if name := SegmentName.of(path):
            chains.setdefault(name.chain, []).append(name)
    found: list[Iterable[JournalEvent]] = []
    for names in chains.values():
        last: deque[JournalEvent] = deque(maxlen=many)
        for name in sorted(names, reverse=True):
            here = deque(_of_chain(journal, [name]), maxlen=many - len(last))
            last.extendleft(reversed(here))
            if len(last) == many:
                break
        found.append(last)
    return list(deque(_merged(found), maxlen=many))


def _merged(streams: Iterable[Iterable[JournalEvent]]) -> Iterator[JournalEvent]:
    """By their time; what is of one chain stays in its order."""
    return heapq.merge(*streams, key=lambda event: str(event["time"]))


def _of_chain(journal: Path, names: Iterable[SegmentName]) -> Iterator[JournalEvent]:
    return chain.from_iterable(_events((journal / name.path).read_bytes(), 0)[1] for name in names)


def _events(data: bytes, start: int) -> tuple[int, Iterator[JournalEvent]]:
    """Where the whole frames end from there on, and their events."""
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
    stamped = isinstance(event, dict) and isinstance(event.get("time"), str) and isinstance(event.get("kind"), str)
    return event if stamped else None


class Follower:
    """What comes into a journal from now on. It looks into the folders of the two latest hours."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._ends = {path: path.stat().st_size for path in self._recent()}

    def more(self) -> list[JournalEvent]:
        """The events that came since the last look."""
        found: list[Iterable[JournalEvent]] = []
        for path in self._recent():
            start = self._ends.get(path, 0)
            if path.stat().st_size > start:
                self._ends[path], events = _events(path.read_bytes(), start)
                found.append(events)
        return list(_merged(found))

    def _recent(self) -> list[Path]:
        folders = sorted(self._journal.glob("date=*/hour=*"))[-2:]
        return [path for folder in folders for path in sorted(folder.glob("*.jsonl.zst")) if SegmentName.of(path)]
