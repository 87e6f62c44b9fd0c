"""Search: the events of a journal that match a filter, in the order of time.

Rules:
* Only the folders of the hours in question are read, and one more on each side: an event is written a little later than
  it happened, and a segment that was begun in one hour may end in the next. A segment is read too if it was written
  for longer, as one is while no other can be begun.
* A segment that was moved is read where it is. One that exists twice is read once, at the path of its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from pathlib import Path

from plugins.audit.event_reading import JournalEvent, events_of, merged
from plugins.audit.pseudonyms import Pseudonyms
from plugins.audit.redaction import hashed
from plugins.audit.segments import SegmentName, by_chain, placed
from rules.clients import ANONYMOUS

MARGIN = timedelta(hours=1)
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
            and self._is_named(self.principal, [_principal(event, self.principal)], "principal")
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


def _principal(event: JournalEvent, wanted: str | None) -> str | None:
    """The principal. If ANONYMOUS is wanted, it is that of clients that nobody asked, as for the rules."""
    known: str | None = event.get("principal")
    is_asked = "mechanism" in event or "listener" not in event or "principal" in event.get("redacted", ())
    return known if known or is_asked or wanted != ANONYMOUS else ANONYMOUS


def _is(wanted: str | None, there: Iterable[str | None]) -> bool:
    if wanted is None:
        return True
    if wanted.endswith("*"):
        return any(one is not None and one.startswith(wanted[:-1]) for one in there)
    return any(one == wanted for one in there)


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class FoundEvents(Iterator[JournalEvent]):
    """The events that match, by their time. They are read one after the other, as they are asked for.

    Segments that were begun a little before or after the period are read, too. `keys`: the ids of the keys that names
    are hashed with in the segments read so far.
    """

    def __init__(self, journal: Path, wanted: EventFilter) -> None:
        self.keys: set[str] = set()
        self._matching = self._read(journal, wanted)

    def __next__(self) -> JournalEvent:
        return next(self._matching)

    def _read(self, journal: Path, wanted: EventFilter) -> Iterator[JournalEvent]:
        found = placed(journal)
        wanted_of = ([*_of_period(names, found, wanted)] for names in by_chain(found).values())
        streams = ((_second(names[0]), events_of(found[name] for name in names)) for names in wanted_of if names)
        for event in merged(streams):
            if isinstance(key := event.get("pseudonyms"), str):
                self.keys.add(key)
            if wanted.includes(event):
                yield event


def search(journal: Path, wanted: EventFilter) -> FoundEvents:
    """Search a journal."""
    return FoundEvents(journal, wanted)


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
