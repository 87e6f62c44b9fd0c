"""The journal: events are on disk in order, and failures of the disk are handled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from plugins.audit import journal as journal_module
from plugins.audit.contents import segment_lines
from plugins.audit.frames import LARGEST
from plugins.audit.journal import Journal, JournalError
from plugins.audit.open_segment import OpenSegment
from plugins.audit.queue import DeferredEvent, QueuedEvent
from plugins.audit.rotation import Rotation
from plugins.audit.segments import segments
from plugins.audit.shared import SharedFields
from plugins.audit.signing import public_key
from plugins.audit.verify import verify
from proxy.testing import FakeClock, FakeWorker
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
        refused = worker.counter("refused_writes", "").add
        journal = Journal(folder, key, instance, 0, worker.tell, worker.clock, rotation, room=room, refused=refused)
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


def test_what_is_missing_of_a_writer_whose_disk_refused_is_not_said_to_be_of_the_last_moment_alone(
    tmp_path: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = begin()
    with monkeypatch.context() as patched:
        patched.setattr(OpenSegment, "write", full)
        for minute in range(5):
            journal.put("request", START + 60 * minute, {"correlation_id": minute})
            journal.work()
        journal.close()
    begin("3f9c2a72").close()
    (remark,) = [one for one in verify(tmp_path / "journal").remarks if "was killed" in one.what]
    assert "or all since the disk refused them" in remark.what


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
    assert worker.counts == {"refused_writes": 1}, "it is not tried at once"
    worker.clock.now += journal_module.AGAIN
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


def test_a_segment_that_is_deleted_while_it_is_written_is_missed_and_followed(
    tmp_path: Path, begin: Begin, worker: FakeWorker
) -> None:
    journal, folder = begin(), tmp_path / "journal"
    journal.put("request", START, {"correlation_id": 1})
    journal.work()
    (gone,) = segments(folder)
    gone.unlink()
    journal.work()
    assert worker.lines[-1] == (
        "audit segment deleted or moved while it was written",
        {"segment": str(gone), "events": 2},
    )
    journal.put("request", START, {"correlation_id": 2})
    journal.close()
    assert [event["kind"] for event in written(folder)] == ["segment_opened", "request", "journal_closed"]
    assert [event["sequence"] for event in written(folder)] == [3, 4, 5]
    deleted = [remark for remark in verify(folder).remarks if not remark.gap]
    assert [str(remark) for remark in deleted] == [
        f"{gone.relative_to(folder).as_posix()}: events 1 to 2: the segment was deleted"
    ]


def test_a_journal_that_is_moved_away_is_begun_again_in_its_place(
    tmp_path: Path, begin: Begin, worker: FakeWorker
) -> None:
    journal, folder = begin(), tmp_path / "journal"
    journal.put("request", START, {"correlation_id": 1})
    journal.work()
    folder.rename(tmp_path / "moved")
    journal.put("request", START, {"correlation_id": 2})
    journal.close()
    assert [event.get("correlation_id") for event in written(folder)] == [None, 2, None]
    assert not verify(folder).is_intact
    assert [event.get("correlation_id") for event in written(tmp_path / "moved")] == [None, 1]


def test_what_is_written_while_its_segment_is_deleted_is_written_again(
    tmp_path: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, folder = begin(), tmp_path / "journal"
    write = OpenSegment.write

    def deleted(self: OpenSegment, lines: list[bytes]) -> None:
        monkeypatch.undo()
        write(self, lines)
        self.path.unlink()

    monkeypatch.setattr(OpenSegment, "write", deleted)
    journal.put("request", START, {"correlation_id": 1})
    journal.work()
    assert journal.on_disk == journal.events
    assert [event.get("correlation_id") for event in written(folder)] == [None, 1]
    journal.close()
    assert [event["sequence"] for event in written(folder)] == [3, 4, 5]


def test_a_segment_that_is_gone_while_the_disk_refuses_is_followed_when_it_does_not(
    tmp_path: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "AGAIN", 0.0)
    journal, folder = begin(), tmp_path / "journal"
    with monkeypatch.context() as patched:
        patched.setattr(OpenSegment, "write", full)
        journal.put("request", START, {"correlation_id": 1})
        journal.work()
        segments(folder)[0].unlink()
        journal.work()
    journal.close()
    assert [event.get("correlation_id") for event in written(folder)] == [None, 1, None]
    assert [event["sequence"] for event in written(folder)] == [2, 3, 4]


def test_summaries_that_are_over_at_once_are_in_frames_that_can_be_read(tmp_path: Path, worker: FakeWorker) -> None:
    long = "x" * (LARGEST // 4)
    over = [QueuedEvent("summary", START, None, {"errors": [long]}) for _ in range(6)]
    due = iter([over])
    key = tmp_path / "journal.key"
    journal = Journal(tmp_path / "journal", key, "a", 0, worker.tell, worker.clock, due=lambda now: next(due, []))
    journal.open()
    journal.work()
    journal.close()
    assert [event["kind"] for event in written(tmp_path / "journal")].count("summary") == len(over)


WRITER = """
import sys
from pathlib import Path
from plugins.audit.journal import Journal
from proxy.testing import FakeClock

clock = FakeClock()
journal = Journal(Path(sys.argv[1]), Path(sys.argv[2]), "killed", 0, lambda event, **facts: None, clock)
journal.open()
for number in range(10**9):
    journal.put("request", clock.wall(), {"correlation_id": number})
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


def test_a_summary_that_is_all_there_is_to_write_lies_in_the_folder_of_its_hour(
    tmp_path: Path, worker: FakeWorker
) -> None:
    clock = FakeClock(since_1970=START)
    over = [QueuedEvent("summary", START, None, {})]
    key = tmp_path / "journal.key"
    journal = Journal(
        tmp_path / "journal",
        key,
        "a",
        0,
        worker.tell,
        clock,
        due=lambda now: [over.pop()] if over and now > START else [],
        window=lambda: 1.0,
    )
    journal.open()
    journal.work()
    clock.since_1970 += 3 * 3600
    journal.work()
    journal.close()
    last = [json.loads(line)["kind"] for line in segment_lines(segments(tmp_path / "journal")[-1])]
    assert last == ["segment_opened", "summary", "journal_closed"]
    assert segments(tmp_path / "journal")[-1].parent.name == "hour=11"


def test_an_event_that_takes_long_to_make_is_made_by_the_writer(
    tmp_path: Path, begin: Begin, worker: FakeWorker
) -> None:
    journal, made_by = begin(), []

    def make() -> QueuedEvent:
        made_by.append(threading.get_ident())
        return QueuedEvent("request", START, None, {"correlation_id": 7})

    def fail() -> QueuedEvent:
        raise ValueError

    journal.hand_over(DeferredEvent(START, 600, make))
    journal.hand_over(DeferredEvent(START, 600, lambda: None))
    journal.hand_over(DeferredEvent(START, 600, fail))
    journal.put("request", START, {"correlation_id": 8})
    assert not made_by
    writer = threading.Thread(target=journal.work)
    writer.start()
    writer.join()
    assert made_by == [writer.ident]
    assert journal.on_disk == journal.events == 4
    kinds = [(event["kind"], event.get("correlation_id")) for event in written(tmp_path / "journal")]
    assert kinds == [("segment_opened", None), ("request", 7), ("events_lost", None), ("request", 8)]
    assert worker.lines[-1][0] == "audit event not written"
    journal.close()
