"""Recovery: the files that a killed writer left."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import pytest

from plugins.audit.open_segment import OpenSegment
from plugins.audit.pruning import prune
from plugins.audit.recovery import newest_seals, recover
from plugins.audit.rotation import Rotation
from plugins.audit.seals import SegmentEnd, read_seal
from plugins.audit.segments import SegmentName, beside, segments
from plugins.audit.verify import verify
from tests.plugins.audit.written import KEY, START, chain, write

PUBLIC = KEY.public_key()
LATER = datetime(2026, 3, 2, tzinfo=UTC)


def left(journal: Path) -> list[Path]:
    """A chain of some segments whose writer is gone."""
    writer = chain(journal, rotation=Rotation(size=600))
    write(writer, range(100))
    writer.abandon()
    return segments(journal)


def test_the_last_segment_is_sealed_as_it_is(tmp_path: Path) -> None:
    last = left(tmp_path)[-1]
    assert recover(tmp_path, KEY) == [last]
    found = read_seal(beside(last, "seal"), PUBLIC).seal
    assert (found.end, found.torn) == (SegmentEnd.KILLED, 0)
    assert verify(tmp_path, PUBLIC).is_intact
    assert recover(tmp_path, KEY) == []


def test_a_torn_frame_is_put_aside(tmp_path: Path) -> None:
    last = left(tmp_path)[-1]
    whole = last.read_bytes()
    last.write_bytes(whole + whole[:40])
    recover(tmp_path, KEY)
    assert last.read_bytes() == whole
    assert beside(last, "torn").read_bytes() == whole[:40]
    (remark,) = verify(tmp_path, PUBLIC).remarks
    assert remark.gap
    assert "40 bytes behind it were no whole frame" in remark.what


def test_a_writer_that_was_killed_between_two_segments_leaves_no_gap(tmp_path: Path) -> None:
    """The next segment is there, the last one is not sealed yet."""
    paths = left(tmp_path)
    beside(paths[-2], "seal").unlink()
    assert recover(tmp_path, KEY) == paths[-2:]
    verified = verify(tmp_path, PUBLIC)
    assert verified.is_intact
    assert [remark.place for remark in verified.remarks] == [paths[-1].relative_to(tmp_path)]


def test_a_segment_with_nothing_whole_in_it_follows_the_one_before(tmp_path: Path) -> None:
    paths = left(tmp_path)
    before = read_seal(beside(paths[-2], "seal"), PUBLIC).seal
    paths[-1].write_bytes(b"\x28\xb5")
    recover(tmp_path, KEY)
    found = read_seal(beside(paths[-1], "seal"), PUBLIC).seal
    assert (found.first, found.last) == (before.last + 1, before.last)
    assert verify(tmp_path, PUBLIC).is_intact
    empty = OpenSegment(tmp_path, SegmentName.at(START, "b", 0, 1))
    empty.close()
    recover(tmp_path, KEY)
    assert read_seal(beside(empty.path, "seal"), PUBLIC).seal.first == 1


def test_a_copy_elsewhere_takes_no_seals_place(tmp_path: Path) -> None:
    last = left(tmp_path)[-1]
    recover(tmp_path, KEY)
    seal = beside(last, "seal").read_bytes()
    copy = last.parent.with_name("hour=23") / last.name
    copy.parent.mkdir()
    copy.write_bytes(segments(tmp_path)[0].read_bytes())
    assert recover(tmp_path, KEY) == []
    assert beside(last, "seal").read_bytes() == seal


def test_a_segment_follows_one_that_was_pruned_meanwhile(tmp_path: Path) -> None:
    *before, last = left(tmp_path)
    assert [one.path for one in prune(tmp_path, LATER, KEY, LATER)] == before
    assert recover(tmp_path, KEY) == [last]
    assert verify(tmp_path, PUBLIC).is_intact


@pytest.mark.parametrize("said", [b"", b"{}\n", b"[]\n", b"\xff\n", b"[" * 100_000])
def test_a_seal_that_was_altered_stops_no_start(tmp_path: Path, said: bytes) -> None:
    *_, before, last = left(tmp_path)
    beside(before, "seal").write_bytes(said)
    assert recover(tmp_path, KEY) == [last]
    assert not verify(tmp_path, PUBLIC).is_intact


def test_a_segment_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    writer = chain(tmp_path)
    assert recover(tmp_path, KEY) == []
    writer.end()


def test_what_a_writer_that_was_killed_before_its_segment_had_a_name_left_is_removed(tmp_path: Path) -> None:
    (there,) = left(tmp_path)[:1]
    unnamed, held, seal = (
        there.with_name(f"_20260301T080000Z-b-0-00000{end}") for end in ("1.tmp", "2.tmp", "3.seal.tmp")
    )
    for file in (unnamed, held, seal):
        file.touch()
    with open(held, "rb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        recover(tmp_path, KEY)
    assert [file.exists() for file in (unnamed, held, seal)] == [False, True, True]


def test_a_segment_begins_whatever_another_process_removes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process recovers the journal just before a new segment is locked."""
    chain(tmp_path).end()
    real = fcntl.flock

    def late(file: int, how: int) -> None:
        monkeypatch.undo()
        recover(tmp_path, KEY)
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    segment = OpenSegment(tmp_path, SegmentName.at(START, "b", 0, 1))
    assert segment.is_there
    segment.close()


def test_several_processes_that_recover_at_once_seal_each_chain_in_its_order(tmp_path: Path) -> None:
    """Each of the chains was left with two segments without a seal: the second seal must name the first."""
    writers = [chain(tmp_path, f"instance{number}", rotation=Rotation(size=600)) for number in range(50)]
    for writer in writers:
        write(writer, range(30))
        writer.abandon()
    for newest in {name.chain: name for name in map(SegmentName.of, segments(tmp_path)) if name}.values():
        (before,) = tmp_path.glob(f"date=*/hour=*/_*-{newest.chain}-{newest.number - 1:06}.seal")
        before.unlink()
    start = Barrier(3)

    def recovered() -> list[Path]:
        start.wait()
        return recover(tmp_path, KEY)

    with ThreadPoolExecutor(3) as several:
        sealed = [path for each in [several.submit(recovered) for _ in range(3)] for path in each.result()]
    assert len(sealed) == len(set(sealed)) == 100
    assert verify(tmp_path, PUBLIC).is_intact


def test_a_chain_whose_segment_is_read_at_that_moment_is_sealed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = left(tmp_path)[-1]
    with open(last, "rb") as reader:
        fcntl.flock(reader, fcntl.LOCK_SH)
        waits = SimpleNamespace(monotonic=time.monotonic, sleep=lambda seconds: fcntl.flock(reader, fcntl.LOCK_UN))
        monkeypatch.setattr("proxy.text.locked.time", waits)
        assert recover(tmp_path, KEY) == [last]


def test_the_newest_seal_of_each_chain_is_known(tmp_path: Path) -> None:
    left(tmp_path)
    recover(tmp_path, KEY)
    last = segments(tmp_path)[-1]
    assert newest_seals(tmp_path) == {"3f9c2a71-0": read_seal(beside(last, "seal"), PUBLIC).hash}


VICTIM = "something of somebody else"
INTRUDERS: dict[str, Callable[[Path, Path], object]] = {
    "a link to a file of somebody else": lambda path, victim: path.symlink_to(victim),
    "a link to nothing": lambda path, victim: path.symlink_to(victim.with_name("nothing")),
    "a pipe": lambda path, victim: os.mkfifo(path),
    "a directory": lambda path, victim: path.mkdir(),
}


@pytest.mark.parametrize("put", INTRUDERS.values(), ids=INTRUDERS)
def test_what_is_no_file_of_the_journal_is_neither_read_nor_written(
    tmp_path: Path, put: Callable[[Path, Path], object]
) -> None:
    journal, victim = tmp_path / "journal", tmp_path / "victim"
    victim.write_text(VICTIM)
    last = left(journal)[-1]
    intruder = last.with_name(SegmentName.at(START, "aaaaaaaa", 0, 1).path.name)
    put(intruder, victim)
    assert recover(journal, KEY) == [last]
    newest_seals(journal)
    assert victim.read_text() == VICTIM
    assert intruder not in segments(journal)
    strange = [remark.what for remark in verify(journal, PUBLIC).remarks if not remark.gap]
    said = "a link, a pipe or a device stands here; a journal has plain files alone"
    assert strange == ([] if intruder.is_dir() else [said])


@pytest.mark.parametrize("ending", ["seal", "seal.tmp", "torn"])
def test_nothing_is_written_through_a_link(tmp_path: Path, ending: str) -> None:
    journal, victim = tmp_path / "journal", tmp_path / "victim"
    victim.write_text(VICTIM)
    last = left(journal)[-1]
    whole = last.read_bytes()
    last.write_bytes(whole + whole[:40])
    beside(last, ending).symlink_to(victim)
    assert recover(journal, KEY) == [last]
    assert victim.read_text() == VICTIM
    assert read_seal(beside(last, "seal"), PUBLIC).seal.torn == 40
    assert beside(last, "torn").read_bytes() == whole[:40]


def ended_without(journal: Path, ending: str) -> None:
    """A writer that ends in order, but cannot make a file with this ending: it is a folder."""
    writer = chain(journal, rotation=Rotation(size=600))
    write(writer, range(100))
    taken = beside(segments(journal)[-1], ending)
    (taken / "full").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        writer.end()
    writer.abandon()
    (taken / "full").rmdir()
    taken.rmdir()


def test_the_seal_of_a_writer_that_was_killed_before_it_was_in_its_place_is_put_there(tmp_path: Path) -> None:
    ended_without(tmp_path, "seal")
    (last,) = recover(tmp_path, KEY)
    assert read_seal(beside(last, "seal"), PUBLIC).seal.end is SegmentEnd.STOPPED
    verified = verify(tmp_path, PUBLIC)
    assert (verified.remarks, verified.events) == ([], 100 + len(segments(tmp_path)) + 1)


def test_one_of_other_bytes_is_not(tmp_path: Path) -> None:
    ended_without(tmp_path, "seal")
    last = segments(tmp_path)[-1]
    last.write_bytes(last.read_bytes() + b"more")
    recover(tmp_path, KEY)
    assert read_seal(beside(last, "seal"), PUBLIC).seal.end is SegmentEnd.KILLED
    assert not verify(tmp_path, PUBLIC).is_intact


def test_a_disk_that_is_full_at_the_end_is_a_gap_and_no_tampering(tmp_path: Path) -> None:
    ended_without(tmp_path, "seal.tmp")
    recover(tmp_path, KEY)
    verified = verify(tmp_path, PUBLIC)
    assert verified.is_intact
    (remark,) = verified.remarks
    assert remark.gap
