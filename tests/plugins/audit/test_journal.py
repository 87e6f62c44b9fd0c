"""The journal: events are on disk in their order, and what happens when they cannot be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from plugins.audit import journal as journal_module
from plugins.audit.chain import Rotation
from plugins.audit.contents import segment_lines
from plugins.audit.journal import Journal, JournalError
from plugins.audit.queue import SharedFields
from plugins.audit.segments import OpenSegment, segments
from plugins.audit.signing import public_key
from plugins.audit.verify import verify
from proxy.testing import FakeWorker
from tests.plugins.audit.written import START

PARTY = SharedFields({"principal": "User:alice"})


@pytest.fixture
def worker() -> FakeWorker:
    return FakeWorker()


Begin = Callable[..., Journal]


@pytest.fixture
def begin(tmp_path: Path, worker: FakeWorker) -> Begin:
    def begun(instance: str = "3f9c2a71", rotation: Rotation | None = None, room: int = 50_000) -> Journal:
        folder, key = tmp_path / "journal", tmp_path / "journal.key"
        journal = Journal(folder, key, instance, 0, worker.tell, rotation, room=room)
        journal.open()
        return journal

    return begun


def written(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for path in segments(folder) for line in segment_lines(path)]


def test_every_event_is_written_once_in_order(tmp_path: Path, begin: Begin) -> None:
    journal = begin(rotation=Rotation(size=20_000))
    for number in range(5000):
        journal.put("request", START, {"correlation_id": number}, PARTY)
        if number % 100 == 0:
            journal.work()
    journal.close()
    events = written(tmp_path / "journal")
    assert [event["correlation_id"] for event in events if event["kind"] == "request"] == list(range(5000))
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    assert {event.get("principal") for event in events if event["kind"] == "request"} == {"User:alice"}
    verified = verify(tmp_path / "journal", public_key(tmp_path / "journal.key"))
    assert not verified.remarks
    assert verified.events == len(events)


def test_a_next_life_goes_on_in_the_same_folder(tmp_path: Path, begin: Begin) -> None:
    for instance in ("a", "b", "c"):
        begin(instance).close()
    assert not verify(tmp_path / "journal", public_key(tmp_path / "journal.key")).remarks
    assert len(segments(tmp_path / "journal")) == 3


def test_while_the_disk_refuses_events_wait_and_those_without_room_are_told(
    tmp_path: Path, begin: Begin, worker: FakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "AGAIN", 0.0)
    journal = begin(room=100)
    with monkeypatch.context() as patched:
        patched.setattr(OpenSegment, "write", full)
        assert journal.put("request", START, {"correlation_id": 0})
        for _ in range(3):
            journal.work()
        taken = [journal.put("request", START + number, {"correlation_id": number}) for number in range(1, 200)]
        assert taken == [True] * 100 + [False] * 99
    journal.work()
    assert journal.put("request", START + 200, {"correlation_id": 200})
    journal.close()
    events = written(tmp_path / "journal")
    there = [event["correlation_id"] for event in events if event["kind"] == "request"]
    assert there == [*range(101), 200]
    (loss,) = [event for event in events if event["kind"] == "events_lost"]
    assert (loss["lost"], loss["lost_to"]) == (99, "2026-03-01T08:03:19.000000Z")
    verified = verify(tmp_path / "journal")
    assert verified.is_intact
    assert [remark.gap for remark in verified.remarks] == [True]
    why = "No space left on device; make room, or give the proxy the right to write there"
    place = str(tmp_path / "journal")
    assert worker.lines[1:] == [
        ("audit journal cannot be written", {"place": place, "why": why}),
        ("audit journal is written again", {}),
    ]


def test_a_disk_that_refused_is_left_alone_for_a_second(
    begin: Begin, worker: FakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = begin()
    monkeypatch.setattr(OpenSegment, "write", full)
    journal.put("request", START, {})
    journal.work()
    monkeypatch.undo()
    journal.work()
    assert worker.lines[-1][0] == "audit journal cannot be written"
    monkeypatch.setattr(time, "monotonic", lambda: float("inf"))
    journal.work()
    assert worker.lines[-1][0] == "audit journal is written again"
    journal.close()


def full(self: OpenSegment, lines: list[bytes]) -> None:
    raise OSError(28, "No space left on device")


def test_what_cannot_be_written_at_the_end_is_told(
    tmp_path: Path, begin: Begin, worker: FakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = begin()
    with monkeypatch.context() as patched:
        patched.setattr(OpenSegment, "write", full)
        journal.put("request", START, {"correlation_id": 0})
        journal.close()
    assert worker.lines[-1] == ("audit events lost at the end", {"events": 1})
    begin("b").close()
    assert [event for event, _ in worker.lines].count("audit segment of a killed writer sealed") == 1
    assert verify(tmp_path / "journal").is_intact


def test_a_journal_that_cannot_be_begun_says_why(tmp_path: Path, begin: Begin) -> None:
    (tmp_path / "journal").write_text("a file")
    with pytest.raises(JournalError, match=r"journal: the journal cannot be written \(File exists\); make room, or"):
        begin()
    (tmp_path / "journal").unlink()
    (tmp_path / "journal.key").write_text("no key")
    with pytest.raises(JournalError, match="no private key"):
        begin()


WRITER = """
import sys, time
from pathlib import Path
from plugins.audit.journal import Journal

journal = Journal(Path(sys.argv[1]), Path(sys.argv[2]), "killed", 0, lambda event, **facts: None)
journal.open()
for number in range(10**9):
    journal.put("request", time.time(), {"correlation_id": number})
    if number % 100 == 0:
        journal.work()
        print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_was_written_and_that_is_told(tmp_path: Path, begin: Begin) -> None:
    folder = tmp_path / "journal"
    command = [sys.executable, "-c", WRITER, folder, tmp_path / "journal.key"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        while int(writer.stdout.readline()) < 5000:
            pass
        os.kill(writer.pid, signal.SIGKILL)
        last = max([5000, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    begin("next").close()
    kept = [event["correlation_id"] for event in written(folder) if event["kind"] == "request"]
    assert kept == list(range(len(kept)))
    assert len(kept) > last
    verified = verify(folder, public_key(tmp_path / "journal.key"))
    assert verified.is_intact
    assert ["its writer was killed after it" in remark.what for remark in verified.remarks] == [True]
