"""Writing: queued events reach the disk in order, also those of unread requests."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from math import nan
from pathlib import Path

import pytest

from plugins.audit.chain import Copy, no_copy
from plugins.audit.contents import segment_lines
from plugins.audit.journal import Journal
from plugins.audit.open_segment import OpenSegment
from plugins.audit.queue import QueuedEvent
from plugins.audit.redacted import Redactor
from plugins.audit.redaction import Redaction
from plugins.audit.rotation import Rotation
from plugins.audit.search import EventFilter, search
from plugins.audit.segments import segments
from plugins.audit.shared import SharedFields
from plugins.audit.told import ToldTraffic
from plugins.audit.verify import verify
from proxy.testing import FakeClock, FakeWorker
from tests.plugins.audit.test_told import numbers
from tests.plugins.audit.written import START, full_disk

TOLD = ToldTraffic(SharedFields({"principal": "User:alice"}), "Produce", 9)


def begun(folder: Path, rotation: Rotation | None = None, copy: Copy = no_copy) -> Journal:
    journal = Journal(folder / "journal", folder / "key", "a", 0, FakeWorker().tell, FakeClock(), rotation, copy=copy)
    journal.open()
    return journal


def tell(journal: Journal, number: int) -> None:
    journal.tell(START, TOLD, numbers((number, 0, 0, 0, 0)))


def told(folder: Path) -> list[int]:
    lines = [json.loads(line) for path in segments(folder / "journal") for line in segment_lines(path)]
    return [line["correlation_id"] for line in lines if line["kind"] == "request"]


def test_events_are_written_in_the_order_in_which_they_were_put_whether_anybody_read_them(tmp_path: Path) -> None:
    journal = begun(tmp_path, Rotation(size=2_000))
    for number in range(4000):
        if number % 7:
            tell(journal, number)
        else:
            journal.put("request", START, {"correlation_id": number})
        if number % 300 == 0:
            journal.work()
            assert journal.on_disk == journal.events == number + 1
    journal.close()
    assert told(tmp_path) == list(range(4000))
    assert verify(tmp_path / "journal").is_intact
    assert len(segments(tmp_path / "journal")) > 1


def test_events_whose_segment_is_deleted_while_they_are_written_are_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = list[bytes]()
    journal = begun(tmp_path, copy=copied.extend)
    write = OpenSegment.write

    def deleted(self: OpenSegment, lines: list[bytes]) -> None:
        monkeypatch.undo()
        write(self, lines)
        self.path.unlink()

    monkeypatch.setattr(OpenSegment, "write", deleted)
    for number in range(9):
        tell(journal, number)
    journal.work()
    assert journal.on_disk == journal.events == 9
    journal.close()
    assert told(tmp_path) == list(range(9))
    requests = [line for line in map(json.loads, copied) if line["kind"] == "request"]
    assert [line["correlation_id"] for line in requests] == list(range(9)), "a topic has each once too"


def test_events_that_cannot_be_written_are_lost_and_keep_nothing_else_from_being_written(tmp_path: Path) -> None:
    worker, lost = FakeWorker(clock=FakeClock(since_1970=START)), list[int]()
    journal = Journal(tmp_path / "journal", tmp_path / "key", "a", 0, worker.tell, worker.clock, unwritten=lost.append)
    journal.open()
    for number in range(3):
        journal.put("request", START, {"correlation_id": number})
        journal.put("request", START - 1, {"correlation_id": object()})
        journal.put("request", nan, {"correlation_id": -1})
    journal.work()
    journal.close()
    assert told(tmp_path) == [0, 1, 2]
    lines = [json.loads(line) for path in segments(tmp_path / "journal") for line in segment_lines(path)]
    gaps = [(line["lost"], line["lost_from"]) for line in lines if line["kind"] == "events_lost"]
    assert gaps == [(1, "2026-03-01T07:59:59.000000Z"), (1, "2026-03-01T08:00:00.000000Z")] * 3
    assert lost == [1] * 6
    assert [line for line, _ in worker.lines].count("audit event not written") == 6
    verified = verify(tmp_path / "journal")
    assert verified.is_intact
    assert verified.events == len(lines)
    assert [remark.what.partition(" here")[0] for remark in verified.remarks] == ["1 events were lost"] * 6


def test_events_that_waited_for_a_full_disk_for_hours_are_found_by_the_time_at_which_they_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.audit.journal.AGAIN", 0.0)
    clock, until = FakeClock(since_1970=START), datetime.fromtimestamp(START + 3600, UTC)
    journal = Journal(tmp_path / "journal", tmp_path / "key", "a", 0, FakeWorker().tell, clock)
    journal.open()
    with full_disk(tmp_path):
        for number in range(9):
            clock.since_1970 += 60
            journal.put("request", clock.since_1970, {"correlation_id": number})
            journal.work()
            assert journal.is_refused
        clock.since_1970 = START + 3 * 3600
        journal.put("request", clock.since_1970, {"correlation_id": 9})
        journal.work()
    journal.work()
    journal.put("request", clock.since_1970, {"correlation_id": 10})
    journal.close()
    found = search(tmp_path / "journal", EventFilter(until=until, kind="request"))
    assert [event["correlation_id"] for event in found] == list(range(9))
    assert told(tmp_path) == list(range(11))
    assert len({path.parent for path in segments(tmp_path / "journal")}) == 2
    assert verify(tmp_path / "journal").is_intact


class FailingRedactor(Redactor):
    """Has a mistake."""

    def __call__(self, event: QueuedEvent) -> QueuedEvent:
        if event.kind == "request":
            raise KeyError(event.kind)
        return super().__call__(event)


def test_events_that_nobody_read_and_that_cannot_be_redacted_are_lost_and_counted(tmp_path: Path) -> None:
    lost = list[int]()
    folder, key, worker = tmp_path / "journal", tmp_path / "key", FakeWorker()
    journal = Journal(folder, key, "a", 0, worker.tell, worker.clock, unwritten=lost.append)
    journal.open(lambda: FailingRedactor(Redaction((), None)))
    for number in range(3):
        tell(journal, number)
    journal.work()
    assert journal.on_disk == journal.events == 3
    journal.close()
    assert told(tmp_path) == []
    assert sum(lost) == 3
    assert verify(tmp_path / "journal").is_intact
