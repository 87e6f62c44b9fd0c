"""Journals of generated months: as events, written to disk by the real writer, and damaged there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from plugins.audit.contents import segment_lines
from plugins.audit.lines import EventLines
from plugins.audit.recovery import recover
from plugins.audit.rotation import Rotation
from plugins.audit.schema import table
from plugins.audit.segments import SegmentName, beside, segments
from tests.plugins.audit.reports.months import HOUR, WORKERS, Happening
from tests.plugins.audit.written import KEY, Wall, chain

ROTATION = Rotation(size=1 << 20, age=1e9)  # one segment for each hour with events
INSTANCE = "5eed0001"

Event = dict[str, Any]


def stamped(happenings: Iterable[Happening]) -> list[Event]:
    """The events as in a journal of two workers, without the events of segments."""
    lines = [EventLines(INSTANCE, worker) for worker in range(WORKERS)]
    return [json.loads(lines[one.worker].line(one.entry)) for one in happenings]


def older(events: Iterable[Event], version: int) -> Iterator[Event]:
    """The events as a proxy with an older schema version, without summaries, would have written them."""
    known = {column.name for column in table() if column.since <= version}
    inner = {column.name: {one.name for one in column.inner if one.since <= version} for column in table()}
    for event in events:
        if event["kind"] == "summary":
            continue
        kept = {name: value for name, value in event.items() if name in known}
        for name, fields in inner.items():
            if fields and kept.get(name):
                kept[name] = [{key: value for key, value in one.items() if key in fields} for one in kept[name]]
        yield {**kept, "schema": version}


def write_journal(journal: Path, happenings: Sequence[Happening], instance: str = INSTANCE) -> None:
    """Write them with the real writer: one chain for each worker, with the clock of the month. Worker 1 is killed."""
    for worker in sorted({one.worker for one in happenings}):
        mine = [one for one in happenings if one.worker == worker]
        wall = Wall()
        wall.now = mine[0].put // HOUR * HOUR
        writer = chain(journal, f"{instance}{worker}", wall=wall, rotation=ROTATION)
        for hour, group in groupby(mine, key=lambda one: one.put // HOUR):
            wall.now = hour * HOUR
            writer.rotate(True)
            for one in group:
                wall.now = one.put
                writer.add(one.entry)
            writer.flush()
        if worker:
            writer.abandon()
            recover(journal, KEY)
        else:
            writer.end()


def read_journal(journal: Path) -> list[Event]:
    """Every event of a journal, once, in order of time, for recounts in plain Python."""
    found = {}
    for path in segments(journal):
        for line in segment_lines(path):
            event = json.loads(line)
            found[event["instance"], event["worker"], event["sequence"]] = event
    return sorted(found.values(), key=lambda event: (event["time"], event["instance"], event["sequence"]))


def lose_segment(journal: Path, number: int) -> Path:
    """Delete a segment and its seal."""
    gone = segments(journal)[number]
    beside(gone, "seal").unlink()
    gone.unlink()
    return gone


def repeat_segment(journal: Path, number: int) -> Path:
    """Copy a segment into the folder of another hour."""
    path = segments(journal)[number]
    there = path.parents[2] / "date=2026-04-01" / "hour=00" / path.name
    assert SegmentName.of(there)
    there.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(path, there))
