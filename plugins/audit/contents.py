"""Contents: whether a segment is as it was written, and which gaps it records itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

from plugins.audit.frames import frames
from plugins.audit.placing import Tampering, changes
from plugins.audit.seals import Seal, SegmentEnd
from plugins.audit.segments import SegmentName

LOST = b'{"kind":"events_lost"'
CLOSED = b'{"kind":"journal_closed"'


class Remark(NamedTuple):
    """A finding about a file of a journal. `first` and `last` are sequence numbers of events; None: not known.

    `gap`: events are missing, and the journal accounts for them.
    """

    place: Path
    what: str
    first: int | None = None
    last: int | None = None
    gap: bool = False

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.place.as_posix(), which_events(self.first, self.last), self.what)))


def which_events(first: int | None, last: int | None) -> str:
    """The events of a remark in words; empty if they are not known."""
    if first is None:
        return ""
    if last is None:
        return f"events from {first} on"
    return f"event {first}" if first == last else f"events {first} to {last}"


def sealed(journal: Path, name: SegmentName, seal: Seal, is_last: bool) -> Iterator[Remark]:
    """What is wrong with a sealed segment; if nothing is, its gaps. `is_last`: whether it is the last of its chain."""
    path = journal / name.path
    with open(path, "rb") as opened:
        is_same = file_digest(opened, "sha256").hexdigest() == seal.sha256
    if not is_same:
        yield from _altered(path.read_bytes(), name, seal)
        return
    if seal.end is SegmentEnd.KILLED:  # the seal proves what the next start found, which somebody may have altered
        yield from unsealed(journal, name, seal.first)
        yield from _ended(path, name, seal, is_last)
    yield from _losses(path, name)


def _altered(data: bytes, name: SegmentName, seal: Seal) -> Iterator[Remark]:
    found = changes(seal.checks, data)
    for change, first, last in found:
        if change is Tampering.INSERTED:
            text, last = f"{last - first + 1} inserted before this one", first
        else:
            text = change.value
        yield Remark(name.path, text, seal.first + first, seal.first + last)
    if not found:
        yield Remark(name.path, "its bytes were altered, though every event is as it was written")


def _ended(path: Path, name: SegmentName, seal: Seal, is_last: bool) -> Iterator[Remark]:
    """How a segment ended that its writer did not seal."""
    lines = [*segment_lines(path)]
    if lines and lines[-1].startswith(CLOSED):
        text = (
            "its writer ended in order, but the seal is of a later start: the writer's own is gone, or was not written"
        )
        yield Remark(name.path, text, seal.last, seal.last)
    elif is_last:  # a writer may be killed before it has sealed the one before, too
        torn = f"; {seal.torn} bytes behind it were no whole frame" if seal.torn else ""
        lost = f"events of the last 100 ms, or all since the disk refused them{_counted(lines)}"
        text = (
            f"its writer was killed after it, and what was not on disk may be missing: {lost}{torn}; "
            "the next start sealed it as it was then"
        )
        yield Remark(name.path, text, seal.last, seal.last, gap=True)


def _losses(path: Path, name: SegmentName) -> Iterator[Remark]:
    for line in segment_lines(path):
        if line.startswith(LOST):
            lost = json.loads(line)
            text = f"{lost['lost']} events were lost here, from {lost['lost_from']} to {lost['lost_to']}"
            yield Remark(name.path, text, lost["sequence"], lost["sequence"], gap=True)


def _counted(lines: list[bytes]) -> str:
    """The text on summaries that were counted and not written; empty without summaries."""
    try:
        window = json.loads(lines[0]).get("window_us", 0) / 1e6
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""
    return f", and what summaries counted in the last {window:g} s" if window else ""


def unsealed(journal: Path, name: SegmentName, first: int | None) -> Iterator[Remark]:
    """Whether the events of a segment without a seal are consecutive. `first` None: any first event will do."""
    expected = first
    for line in segment_lines(journal / name.path):
        try:
            event = json.loads(line)
            here = event["instance"], event["worker"], event["sequence"]
        except (ValueError, KeyError, TypeError, RecursionError):
            yield Remark(name.path, "what stands here is no event", expected, expected)
            return
        if here != (name.instance, name.worker, here[2] if expected is None else expected):
            yield Remark(name.path, f"event {here[2]} of {here[0]}-{here[1]} stands here", expected, expected)
            return
        expected = here[2] + 1


def segment_lines(path: Path) -> Iterator[bytes]:
    """All lines of a segment, up to a frame that is damaged."""
    for _, lines in frames(path.read_bytes()):
        yield from lines
