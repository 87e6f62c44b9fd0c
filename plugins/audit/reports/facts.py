"""Facts about a journal beside its events: its segments, the result of verification, and lines that are no events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plugins.audit.contents import which_events
from plugins.audit.segments import beside


@dataclass(frozen=True)
class SegmentFacts:
    """One file. `state`: "sealed", "altered", "being written" or "no seal". The events are from `first` to `last`."""

    path: str
    sha256: str
    first: int | None
    last: int | None
    state: str


@dataclass(frozen=True)
class RemarkFacts:
    """A finding of verification about a place. `gap`: the journal accounts for it; else the journal was altered."""

    place: str
    what: str
    first: int | None
    last: int | None
    gap: bool

    @property
    def events(self) -> str:
        """The events that it is about, in words; empty if they are not known."""
        return which_events(self.first, self.last)


@dataclass(frozen=True)
class CorruptFacts:
    """Lines of one file that are no events, and the beginning of the first of them."""

    file: str
    lines: int
    example: str


@dataclass(frozen=True)
class JournalFacts:
    """A journal as it was read. `versions`: how many events each version of the schema has.

    `asked_for`: how many events are of the principals and topics that were asked for; None without such a filter.
    `is_trusted`: whether keys were given with which the journal must be signed.
    `redacted`: in how many events each kind of names is redacted. `unnamed`: how many events have a topic by its id
    alone. `left_out`: the number of resources and changes that events lack, of requests that had too many.
    """

    journal: str
    is_verified: bool
    segments: tuple[SegmentFacts, ...] = ()
    remarks: tuple[RemarkFacts, ...] = ()
    keys: tuple[str, ...] = ()
    events: int = 0
    repeated: int = 0
    unnamed: int = 0
    left_out: int = 0
    corrupt: tuple[CorruptFacts, ...] = ()
    versions: tuple[tuple[int, int], ...] = ()
    redacted: tuple[tuple[str, int], ...] = ()
    software: str = ""
    is_trusted: bool = False
    asked_for: int | None = None

    @cached_property
    def _doubtful(self) -> frozenset[str]:
        return frozenset(one.place for one in self.remarks if not one.gap)

    def doubts(self, segment: str) -> bool:
        """Does verification say something of this segment, or of its seal, that the journal does not account for?"""
        return not self._doubtful.isdisjoint((segment, beside(Path(segment), "seal").as_posix()))
