"""Beginning: a journal that its disk refuses begins as soon as the disk takes it."""

from __future__ import annotations

import errno
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from plugins.audit import journal as journal_module
from plugins.audit.beginning import may_pass
from plugins.audit.contents import segment_lines
from plugins.audit.journal import Journal, JournalError
from plugins.audit.open_segment import OpenSegment
from plugins.audit.search import EventFilter, search
from plugins.audit.segments import segments
from plugins.audit.verify import verify
from proxy.testing import FakeClock, FakeWorker
from tests.plugins.audit.written import START

REMEDY = "make room, or give the proxy the right to write there"


class Disk:
    """A disk that refuses new segments with this error; None: it takes them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.error: int | None = errno.ENOSPC
        self.slow = 0.0  # seconds that a refusal takes
        self.clock = FakeClock(since_1970=START)
        write = OpenSegment.write

        def written(segment: OpenSegment, lines: list[bytes]) -> None:
            if self.error is not None:
                self.clock.now += self.slow
                raise OSError(self.error, os.strerror(self.error))
            write(segment, lines)

        monkeypatch.setattr(OpenSegment, "write", written)

    def passes(self, seconds: float) -> None:
        self.clock.now += seconds
        self.clock.since_1970 += seconds


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.fixture
def worker() -> FakeWorker:
    return FakeWorker()


@pytest.fixture
def journal(tmp_path: Path, disk: Disk, worker: FakeWorker) -> Journal:
    """One that is not opened yet."""
    folder, key = tmp_path / "journal", tmp_path / "journal.key"
    refused = worker.counter("refused_writes", "").add
    return Journal(folder, key, "3f9c2a71", 0, worker.tell, disk.clock, room=10, refused=refused)


def put(journal: Journal, disk: Disk, *numbers: int) -> list[bool]:
    return [journal.put("request", disk.clock.wall(), {"correlation_id": number}) for number in numbers]


def test_events_wait_for_a_journal_that_begins_late_as_for_one_whose_disk_filled_later(
    tmp_path: Path, disk: Disk, journal: Journal, worker: FakeWorker
) -> None:
    journal.open(may_wait=True)
    assert journal.is_refused
    assert put(journal, disk, *range(12)) == [True] * 10 + [False] * 2
    for _ in range(2):
        disk.passes(journal_module.AGAIN)
        journal.work()
    assert worker.counts == {"refused_writes": 3}
    assert journal.lost == 2
    disk.error = None
    journal.work()
    assert journal.is_refused, "the disk is left alone for a second"
    disk.passes(journal_module.AGAIN)
    journal.work()
    assert journal.on_disk == journal.events == 10
    journal.close()
    events = [json.loads(line) for path in segments(tmp_path / "journal") for line in segment_lines(path)]
    kinds = ["segment_opened", *["request"] * 10, "events_lost", "journal_closed"]
    assert [event["kind"] for event in events] == kinds
    assert events[-2]["lost"] == 2
    assert verify(tmp_path / "journal").is_intact
    why = f"No space left on device; {REMEDY}"
    assert [said for said, _ in worker.lines] == [
        "audit journal cannot be written",
        "audit journal begun",
        "audit journal is written again",
    ]
    assert worker.lines[0][1] == {"place": str(tmp_path / "journal"), "why": why}


def test_events_from_before_a_late_beginning_are_found_by_their_time(
    tmp_path: Path, disk: Disk, journal: Journal
) -> None:
    journal.open(may_wait=True)
    put(journal, disk, 1)
    disk.passes(5 * 3600)
    disk.error = None
    journal.work()
    put(journal, disk, 2)
    journal.close()
    assert [path.parent.name for path in segments(tmp_path / "journal")] == ["hour=08", "hour=13"]
    until = datetime.fromtimestamp(START + 60, UTC)
    found = [
        event["correlation_id"] for event in search(tmp_path / "journal", EventFilter(until=until, kind="request"))
    ]
    assert found == [1]
    assert verify(tmp_path / "journal").is_intact


def test_a_segment_that_a_writer_left_is_sealed_when_there_is_room(
    tmp_path: Path, disk: Disk, journal: Journal, worker: FakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.error = None
    before = Journal(tmp_path / "journal", tmp_path / "journal.key", "before", 0, worker.tell, disk.clock)
    before.open()
    (left,) = segments(tmp_path / "journal")
    disk.error = errno.ENOSPC
    before.close()
    disk.error = None
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        journal.open(may_wait=True)
        assert journal.is_refused
    disk.passes(journal_module.AGAIN)
    journal.work()
    journal.close()
    assert ("audit segment of a killed writer sealed", {"segment": str(left)}) in worker.lines
    assert verify(tmp_path / "journal").is_intact


def test_each_segment_that_is_sealed_is_told_though_the_disk_refuses_the_seal_of_another(
    tmp_path: Path, disk: Disk, journal: Journal, worker: FakeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.error = None
    folder = tmp_path / "journal"
    writers = [Journal(folder, tmp_path / "journal.key", name, 0, worker.tell, disk.clock) for name in ("one", "two")]
    for writer in writers:
        writer.open()
    left = segments(folder)
    disk.error = errno.ENOSPC
    for writer in writers:
        writer.close()
    disk.error = None
    sync = os.fsync

    def full_for_the_last(fd: int) -> None:
        if left[-1].name.removesuffix(".jsonl.zst") in os.readlink(f"/proc/self/fd/{fd}"):
            full(fd)
        sync(fd)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full_for_the_last)
        journal.open(may_wait=True)
        assert journal.is_refused
    disk.passes(journal_module.AGAIN)
    journal.work()
    journal.close()
    told = [facts["segment"] for event, facts in worker.lines if event == "audit segment of a killed writer sealed"]
    assert told == list(map(str, left))


def full(fd: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_the_key_too_may_be_made_late(
    tmp_path: Path, disk: Disk, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.error = None
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        journal.open(may_wait=True)
    assert not (tmp_path / "journal.key").exists()
    disk.passes(journal_module.AGAIN)
    journal.work()
    journal.close()
    assert (tmp_path / "journal.key").exists()


def test_a_key_that_turns_out_to_be_none_is_told_and_tried_again_as_the_disk_is(
    tmp_path: Path, disk: Disk, journal: Journal, worker: FakeWorker
) -> None:
    journal.open(may_wait=True)
    key = (tmp_path / "journal.key").read_bytes()
    (tmp_path / "journal.key").write_text("no key")
    disk.error = None
    disk.passes(journal_module.AGAIN)
    journal.work()
    disk.passes(journal_module.AGAIN)
    journal.work()
    assert worker.counts == {"refused_writes": 3}
    said = [facts["why"] for event, facts in worker.lines if event == "audit journal cannot be written"]
    assert said[0] == f"No space left on device; {REMEDY}"
    assert len(said) == 2, "each reason is told once"
    assert said[1].startswith(f"{tmp_path / 'journal.key'}: no private key in PEM without a passphrase; ")
    (tmp_path / "journal.key").write_bytes(key)
    disk.passes(journal_module.AGAIN)
    journal.work()
    assert not journal.is_refused
    journal.close()


def test_a_journal_that_is_refused_for_another_reason_than_before_is_told_again(
    disk: Disk, journal: Journal, worker: FakeWorker
) -> None:
    journal.open(may_wait=True)
    for error in (errno.EACCES, errno.EACCES, errno.ENOSPC):
        disk.error = error
        disk.passes(journal_module.AGAIN)
        journal.work()
    why = [facts["why"] for _, facts in worker.lines]
    assert why == [f"{os.strerror(error)}; {REMEDY}" for error in (errno.ENOSPC, errno.EACCES, errno.ENOSPC)]


def test_a_try_to_begin_that_takes_long_is_repeated_seldom(disk: Disk, journal: Journal, worker: FakeWorker) -> None:
    disk.slow = 2.0
    journal.open(may_wait=True)
    disk.passes(journal_module.LONGER * 2.0 - 0.1)
    journal.work()
    assert worker.counts == {"refused_writes": 1}
    disk.passes(0.1)
    journal.work()
    assert worker.counts == {"refused_writes": 2}


def test_events_of_a_journal_that_never_began_are_told_at_the_end(
    tmp_path: Path, disk: Disk, journal: Journal, worker: FakeWorker
) -> None:
    journal.open(may_wait=True)
    put(journal, disk, 1, 2, 3)
    journal.close()
    assert worker.lines[-1] == ("audit events lost at the end", {"events": 3})
    assert segments(tmp_path / "journal") == []


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_refusal_of_the_disk_may_pass_and_is_an_error_only_where_the_caller_does_not_wait(
    disk: Disk, journal: Journal, error: int
) -> None:
    disk.error = error
    assert may_pass(OSError(error, ""))
    with pytest.raises(JournalError, match="the journal cannot be written"):
        journal.open()
    journal.open(may_wait=True)
    assert journal.is_refused


@pytest.mark.parametrize("error", [errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.ELOOP])
def test_a_mistake_of_the_configuration_is_an_error_at_once(disk: Disk, journal: Journal, error: int) -> None:
    disk.error = error
    assert not may_pass(OSError(error, ""))
    with pytest.raises(JournalError, match=f"the journal cannot be written \\({os.strerror(error)}\\); {REMEDY}"):
        journal.open(may_wait=True)
