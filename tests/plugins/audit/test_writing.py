"""Writing: what waits is on disk in its order, also what is told of requests that nobody read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plugins.audit.chain import Rotation
from plugins.audit.contents import segment_lines
from plugins.audit.journal import Journal
from plugins.audit.segments import OpenSegment, segments
from plugins.audit.shared import SharedFields
from plugins.audit.told import ToldTraffic
from plugins.audit.verify import verify
from proxy.testing import FakeWorker
from tests.plugins.audit.test_told import numbers
from tests.plugins.audit.written import START

TOLD = ToldTraffic(SharedFields({"principal": "User:alice"}), "Produce", 9)


def begun(folder: Path, rotation: Rotation | None = None) -> Journal:
    journal = Journal(folder / "journal", folder / "key", "a", 0, FakeWorker().tell, rotation)
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
    journal, write = begun(tmp_path), OpenSegment.write

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
