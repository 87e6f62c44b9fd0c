"""Verification: an unchanged journal passes, and every change is found, with its place."""

from __future__ import annotations

import json
import os
import random
import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import zstandard
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.contents import Remark, segment_lines
from plugins.audit.frames import frame_end, frames
from plugins.audit.queue import Loss
from plugins.audit.recovery import recover
from plugins.audit.rotation import Rotation
from plugins.audit.seals import read_seal
from plugins.audit.segments import beside, segments
from plugins.audit.signing import fingerprint, key_text
from plugins.audit.verify import verify
from tests.plugins.audit.written import KEY, START, Wall, chain, write

PUBLIC = KEY.public_key()
CASES = 1000


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two chains of several segments, the second of which knows the first."""
    journal = tmp_path_factory.mktemp("audit") / "journal"
    for instance in ("3f9c2a71", "a07be5d2"):
        writer = chain(journal, instance, rotation=Rotation(size=1200))
        write(writer, range(150))
        writer.end()
    assert len(segments(journal)) >= 6
    return journal


@pytest.fixture
def journal(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "journal"))


def test_a_journal_as_it_was_written_is_intact(journal: Path) -> None:
    verified = verify(journal, PUBLIC)
    assert verified.is_intact
    assert not verified.remarks
    assert (verified.segments, verified.open) == (len(segments(journal)), 0)
    assert verified.events == sum(len(list(segment_lines(path))) for path in segments(journal))


def test_a_segment_that_begins_while_the_folders_are_read_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of the next hour is made, and the seal is written, just before the folder with the seal is read."""
    wall = Wall()
    writer = chain(tmp_path, wall=wall)
    write(writer, range(5))
    real = os.scandir

    def late(folder: Path) -> os._ScandirIterator[str]:
        if folder.name == "hour=08":
            monkeypatch.undo()
            wall.now = START + 3600
            writer.rotate(True)
        return real(folder)

    monkeypatch.setattr(os, "scandir", late)
    assert not verify(tmp_path, PUBLIC).remarks
    writer.end()


def test_one_that_is_being_written_is_intact_so_far(tmp_path: Path) -> None:
    writer = chain(tmp_path, rotation=Rotation(size=600))
    write(writer, range(100))
    verified = verify(tmp_path, PUBLIC)
    assert verified.is_intact
    assert verified.open == 1
    writer.end()
    assert verify(tmp_path, PUBLIC).open == 0


@dataclass
class Sealed:
    """One segment of the untouched journal: its frames and lines, and the sequence of its first event."""

    path: Path
    frames: list[bytes]

    @staticmethod
    def of(path: Path) -> Sealed:
        data, position, found = path.read_bytes(), 0, []
        while position < len(data):
            end = frame_end(data, position)
            found.append(data[position:end])
            position = end
        return Sealed(path, found)

    @property
    def lines(self) -> list[bytes]:
        return [line for frame in self.frames for line in zstandard.decompress(frame).splitlines(keepends=True)]

    @property
    def first(self) -> int:
        return int(json.loads(self.lines[0])["sequence"])

    @property
    def events(self) -> int:
        return len(self.lines)

    def write(self, lines: list[bytes]) -> None:
        tens = (lines[start : start + 10] for start in range(0, len(lines), 10))
        self.path.write_bytes(b"".join(zstandard.compress(b"".join(ten)) for ten in tens))


@dataclass
class Expected:
    """Where the change must be found: this file, and one of the remarks about it must cover these events."""

    place: Path
    first: int | None = None
    last: int | None = None
    what: str = ""

    def is_said_by(self, remark: Remark) -> bool:
        if remark.gap or remark.place != self.place or self.what not in remark.what:
            return False
        if self.first is None:
            return True
        assert self.last is not None
        return remark.first is not None and remark.first <= self.first and (remark.last or self.last) >= self.last


def flip(segment: Sealed, dice: random.Random) -> Expected:
    """One bit of the file: somewhere in a frame, whose events are then unreadable or as they were."""
    data = bytearray(segment.path.read_bytes())
    where = dice.randrange(len(data))
    data[where] ^= 1 << dice.randrange(8)
    segment.path.write_bytes(data)
    if [line for _, lines in frames(bytes(data)) for line in lines] == segment.lines:
        return Expected(segment.path, what="its bytes were altered, though every event is as it was written")
    first, end = segment.first, 0
    original = segment.frames
    for frame, lines in zip(original, [zstandard.decompress(one).splitlines() for one in original], strict=True):
        end += len(frame)
        if where < end:
            return Expected(segment.path, first, first + len(lines) - 1)
        first += len(lines)
    raise AssertionError


def alter(segment: Sealed, dice: random.Random) -> Expected:
    """One event says another topic, and everything is compressed anew."""
    lines = segment.lines
    where = dice.randrange(len(lines))
    lines[where] = lines[where].replace(b'"sequence"', b'"Sequence"')
    first = segment.first
    segment.write(lines)
    return Expected(segment.path, first + where, first + where, "altered")


def delete(segment: Sealed, dice: random.Random) -> Expected:
    lines = segment.lines
    where = dice.randrange(len(lines) - 1)
    many = dice.randint(1, min(5, len(lines) - 1 - where))
    first = segment.first
    del lines[where : where + many]
    segment.write(lines)
    return Expected(segment.path, first + where, first + where + many - 1, "deleted")


def reorder(segment: Sealed, dice: random.Random) -> Expected:
    """An event stands somewhere else."""
    lines = segment.lines
    where, to = dice.sample(range(len(lines)), 2)
    first = segment.first
    lines.insert(to, lines.pop(where))
    segment.write(lines)
    moved = where if abs(where - to) > 1 else max(where, to)  # of two neighbours either may be the one
    return Expected(segment.path, first + moved, first + moved, "moved")


def truncate(segment: Sealed, dice: random.Random) -> Expected:
    data = segment.path.read_bytes()
    keep = dice.randrange(len(data))
    segment.path.write_bytes(data[:keep])
    whole, size = 0, 0
    original = segment.frames
    for frame in original:
        size += len(frame)
        if size > keep:
            break
        whole += len(zstandard.decompress(frame).splitlines())
    first = segment.first
    return Expected(segment.path, first + whole, first + segment.events - 1)


def splice(segment: Sealed, dice: random.Random) -> Expected:
    """An event of another segment is put in."""
    lines = segment.lines
    other = dice.choice([path for path in segments(journal_of(segment.path)) if path != segment.path])
    stranger = dice.choice(Sealed.of(other).lines)
    where = dice.randrange(len(lines))
    first = segment.first
    lines.insert(where, stranger)
    segment.write(lines)
    return Expected(segment.path, first + where, first + where, "inserted")


def replay(segment: Sealed, dice: random.Random) -> Expected:
    """An event stands there twice."""
    lines = segment.lines
    where = dice.randrange(len(lines))
    first = segment.first
    lines.insert(dice.randrange(len(lines) + 1), lines[where])
    segment.write(lines)
    return Expected(segment.path, first + where, first + where, "repeated")


def copy_whole(segment: Sealed, dice: random.Random) -> Expected:
    """A segment with its seal stands there once more: under another number, or in another hour."""
    path = segment.path
    if dice.random() < 0.5:
        other = path.parent.with_name("hour=23") / path.name
        other.parent.mkdir(exist_ok=True)
    else:
        other = path.with_name(path.name[:-16] + "000099.jsonl.zst")
    shutil.copy(path, other)
    shutil.copy(beside(path, "seal"), beside(other, "seal"))
    return Expected(beside(other, "seal"))


def exchange(segment: Sealed, dice: random.Random) -> Expected:
    """A segment and its seal are those of another one."""
    other = dice.choice([path for path in segments(journal_of(segment.path)) if path != segment.path])
    shutil.copy(other, segment.path)
    shutil.copy(beside(other, "seal"), beside(segment.path, "seal"))
    return Expected(beside(segment.path, "seal"))


def cut_tail(segment: Sealed, dice: random.Random) -> Expected:
    """All from this segment on is gone, with the seals: what followed the one before it was cut off."""
    paths = segments(journal_of(segment.path))
    number = paths.index(segment.path)
    chain_of = [path for path in paths if path.name.split("-")[1] == segment.path.name.split("-")[1]]
    if chain_of[0] == segment.path:
        number, chain_of = number + 1, chain_of[1:]
    kept = paths[number - 1]
    after = Sealed.of(kept).first + Sealed.of(kept).events
    for path in chain_of[chain_of.index(paths[number]) :]:
        path.unlink()
        beside(path, "seal").unlink()
    return Expected(kept, after, after, "cut off")


def delete_segment(segment: Sealed, dice: random.Random) -> Expected:
    first, last = segment.first, segment.first + segment.events - 1
    segment.path.unlink()
    return Expected(segment.path, first, last, "deleted")


def delete_seal(segment: Sealed, dice: random.Random) -> Expected:
    beside(segment.path, "seal").unlink()
    return Expected(segment.path, what="seal")


def flip_seal(segment: Sealed, dice: random.Random) -> Expected:
    seal = beside(segment.path, "seal")
    data = bytearray(seal.read_bytes())
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    seal.write_bytes(data)
    return Expected(seal, what="seal")


def forge(segment: Sealed, dice: random.Random) -> Expected:
    """The segment is altered, and sealed anew with a key of the forger's own."""
    alter(segment, dice)
    seal = beside(segment.path, "seal")
    line = seal.read_bytes().partition(b"\n")[0] + b"\n"
    seal.write_bytes(line + b64encode(Ed25519PrivateKey.generate().sign(line)) + b"\n")
    return Expected(seal, what="signature")


TAMPERINGS = [
    flip,
    alter,
    delete,
    reorder,
    truncate,
    splice,
    replay,
    copy_whole,
    exchange,
    cut_tail,
    delete_segment,
    delete_seal,
    flip_seal,
    forge,
]


def journal_of(path: Path) -> Path:
    return path.parent.parent.parent


def test_a_thousand_tamperings_are_found_where_they_are(original: Path, tmp_path: Path) -> None:
    dice = random.Random(20260301)
    for case in range(CASES):
        journal = tmp_path / "journal"
        shutil.copytree(original, journal)
        tamper = TAMPERINGS[case % len(TAMPERINGS)]
        segment = Sealed.of(dice.choice(segments(journal)))
        expected = tamper(segment, dice)
        expected.place = expected.place.relative_to(journal)
        remarks = verify(journal, PUBLIC).remarks
        said = "\n".join(map(str, remarks))
        assert any(expected.is_said_by(one) for one in remarks), f"case {case}, {tamper.__name__}: {expected}\n{said}"
        shutil.rmtree(journal)


@pytest.mark.parametrize("tamper", TAMPERINGS)
def test_what_was_not_touched_is_not_blamed(journal: Path, tamper: object) -> None:
    """All remarks are about the segment, its seal, or those beside it in the chain."""
    assert callable(tamper)
    segment = Sealed.of(segments(journal)[1])
    tamper(segment, random.Random(1))
    chains = {remark.place.name.lstrip("_").split("-")[1] for remark in verify(journal, PUBLIC).remarks}
    about = segment.path.name.split("-")[1]
    assert about in chains
    assert len(chains) == 1 or tamper in (cut_tail, delete_seal, delete_segment, exchange, flip_seal, forge)


def test_the_end_of_an_older_chain_is_missed_by_a_younger_one(journal: Path) -> None:
    """Even where its seal is gone too, so that it looks as if its writer had been killed."""
    last = [path for path in segments(journal) if "3f9c2a71" in path.name][-1]
    beside(last, "seal").unlink()
    recover(journal, Ed25519PrivateKey.generate())
    said = [str(remark) for remark in verify(journal).remarks]
    assert any("its newest seal of then is gone" in remark and "a07be5d2" in remark for remark in said)


def test_a_chain_that_is_gone_is_missed_by_a_younger_one(journal: Path) -> None:
    for path in segments(journal):
        if "3f9c2a71" in path.name:
            path.unlink()
            beside(path, "seal").unlink()
    (remark,) = verify(journal, PUBLIC).remarks
    assert "the chain 3f9c2a71-0 was there: all of it is gone" in str(remark)


def test_seals_of_another_key_prove_nothing(journal: Path) -> None:
    verified = verify(journal, Ed25519PrivateKey.generate().public_key())
    ours = fingerprint(key_text(PUBLIC))
    said = f"the seal was altered: it was signed with another key, {ours}"
    assert {remark.what for remark in verified.remarks} >= {said}
    assert verified.events == 0


def test_after_a_change_of_the_key_both_are_trusted(journal: Path) -> None:
    after = Ed25519PrivateKey.generate()
    later = chain(journal, "later", key=after)
    write(later, range(5))
    later.end()
    assert not verify(journal, PUBLIC, after.public_key()).remarks
    for key, others in ((PUBLIC, "later"), (after.public_key(), "3f9c2a71")):
        assert {remark.place.name.split("-")[1] for remark in verify(journal, key).remarks} >= {others}


def test_foreign_files_are_named(journal: Path) -> None:
    (journal / "notes.txt").write_text("mine")
    (segments(journal)[0].parent / "more.jsonl.zst").write_bytes(b"")
    said = {remark.place.name: remark.what for remark in verify(journal, PUBLIC).remarks}
    assert said == dict.fromkeys(("notes.txt", "more.jsonl.zst"), "this file is not of the journal")


@pytest.mark.parametrize(("number", "spelt"), [("-0-000002", "-0-0000002"), ("-0-000002", "-00-000002")])
def test_a_copy_whose_number_is_spelt_otherwise_is_no_segment(journal: Path, number: str, spelt: str) -> None:
    """Else it would be read as one beside the segment that `verify` looks at."""
    path = segments(journal)[1]
    copy = path.with_name(path.name.replace(number, spelt))
    assert copy != path
    Sealed(copy, []).write([line.replace(b"broker", b"nobody") for line in segment_lines(path)])
    (remark,) = verify(journal, PUBLIC).remarks
    assert (remark.place, remark.what) == (copy.relative_to(journal), "this file is not of the journal")
    assert copy not in segments(journal)


def test_a_folder_behind_a_link_is_named_and_not_read(journal: Path, tmp_path: Path) -> None:
    folder = segments(journal)[0].parent
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert not segments(journal)
    (remark,) = verify(journal, PUBLIC).remarks
    assert remark.place == folder.relative_to(journal)
    assert "a link, a pipe or a device stands here" in remark.what


def recovered(folder: Path, change: Callable[[list[bytes]], list[bytes]]) -> list[str]:
    """What is said of a segment that somebody changed while its writer was dead, after the next start sealed it."""
    writer = chain(folder)
    write(writer, range(30))
    writer.abandon()
    (path,) = segments(folder)
    segment = Sealed.of(path)
    segment.write(change(segment.lines))
    recover(folder, KEY)
    return [str(remark).partition(": ")[2] for remark in verify(folder, PUBLIC).remarks if not remark.gap]


STRANGE = [
    b"no JSON\n",
    b"{}\n",
    b"[]\n",
    b'{"sequence":true}\n',
    b'{"sequence":"1"}\n',
    b'{"sequence":1e400}\n',
    b"[" * 100_000 + b"\n",
    b"\xff\xfe\n",
]


def test_events_of_a_killed_writer_must_follow_each_other(tmp_path: Path) -> None:
    assert not recovered(tmp_path / "as they were", lambda lines: lines)
    said = recovered(tmp_path / "one is gone", lambda lines: [*lines[:7], *lines[8:]])
    assert said == ["event 8: event 9 of 3f9c2a71-0 stands here"]
    said = recovered(tmp_path / "the first is gone", lambda lines: lines[1:])
    assert said == ["event 1: event 2 of 3f9c2a71-0 stands here"]


@pytest.mark.parametrize("where", [0, 3])
@pytest.mark.parametrize("line", STRANGE)
def test_a_line_of_a_killed_writer_that_is_no_event_is_told_and_stops_no_start(
    tmp_path: Path, line: bytes, where: int
) -> None:
    said = recovered(tmp_path, lambda lines: [*lines[:where], line, *lines[where + 1 :]])
    assert said == [f"event {where + 1}: what stands here is no event"]


def test_a_seal_that_was_deleted_is_missed_though_the_next_start_makes_another(journal: Path) -> None:
    last = segments(journal)[-1]
    beside(last, "seal").unlink()
    alter(Sealed.of(last), random.Random(1))
    assert recover(journal, KEY) == [last]
    said = [remark.what for remark in verify(journal, PUBLIC).remarks if remark.place == last.relative_to(journal)]
    assert any("its writer ended in order, but the seal is of a later start" in what for what in said)


def test_a_segment_of_a_killed_writer_follows_the_one_before(tmp_path: Path) -> None:
    writer = chain(tmp_path, rotation=Rotation(size=600))
    write(writer, range(100))
    writer.abandon()
    last = Sealed.of(segments(tmp_path)[-1])
    last.write([line.replace(b'"sequence":', b'"sequence":9') for line in last.lines])
    recover(tmp_path, KEY)
    said = [remark.what for remark in verify(tmp_path, PUBLIC).remarks if not remark.gap]
    assert said == [f"event 9{last_first(tmp_path)} of 3f9c2a71-0 stands here"]


def last_first(journal: Path) -> int:
    """The sequence with which the last segment must begin."""
    return read_seal(beside(segments(journal)[-1], "seal"), PUBLIC).seal.first


def test_a_killed_writer_is_a_gap_and_no_tampering(tmp_path: Path) -> None:
    writer = chain(tmp_path)
    write(writer, range(30))
    writer.abandon()
    (remark,) = verify(tmp_path, PUBLIC).remarks
    assert "it has no seal" in remark.what
    recover(tmp_path, KEY)
    verified = verify(tmp_path, PUBLIC)
    (remark,) = verified.remarks
    assert (remark.gap, remark.first, verified.is_intact, verified.events) == (True, 31, True, 31)
    assert "its writer was killed after it" in remark.what


def test_events_that_were_lost_are_a_gap_and_no_tampering(tmp_path: Path) -> None:
    writer = chain(tmp_path)
    loss = Loss(START)
    loss.add(START)
    loss.add(START + 2)
    writer.add(loss)
    writer.end()
    verified = verify(tmp_path, PUBLIC)
    assert [str(remark).partition(": ")[2] for remark in verified.remarks] == [
        "event 2: 2 events were lost here, from 2026-03-01T08:00:00.000000Z to 2026-03-01T08:00:02.000000Z"
    ]
    assert verified.is_intact


def test_segments_of_a_writer_that_goes_on_are_sealed_by_their_age(tmp_path: Path) -> None:
    wall = Wall()
    writer = chain(tmp_path, wall=wall, rotation=Rotation(age=900))
    write(writer, range(5))
    wall.now += 901
    writer.rotate(False)
    verified = verify(tmp_path, PUBLIC)
    assert (verified.is_intact, verified.segments, verified.open) == (True, 1, 1)
    writer.end()


def test_a_segment_that_is_sealed_while_the_others_are_read_is_no_tampering(tmp_path: Path) -> None:
    writer = chain(tmp_path, rotation=Rotation(size=600))
    write(writer, range(100))
    steps = [writer.end]

    @contextmanager
    def fetched(place: Path) -> Iterator[None]:
        if steps:
            steps.pop()()
        yield

    verified = verify(tmp_path, PUBLIC, fetched=fetched)
    assert (verified.remarks, verified.open) == ([], 1)
    assert verify(tmp_path, PUBLIC).open == 0
