"""A chain: segments in sequence, and the effects of failing writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plugins.audit.chain import Chain
from plugins.audit.contents import segment_lines
from plugins.audit.open_segment import OpenSegment
from plugins.audit.rotation import Rotation
from plugins.audit.segments import beside, segments
from plugins.audit.verify import verify
from tests.plugins.audit.written import KEY, START, Wall, chain, event, write


def sequences(journal: Path) -> list[int]:
    return [json.loads(line)["sequence"] for path in segments(journal) for line in segment_lines(path)]


def kinds(path: Path) -> list[str]:
    return [json.loads(line)["kind"] for line in segment_lines(path)]


def test_a_segment_that_is_large_enough_is_followed_and_sealed(tmp_path: Path) -> None:
    writer = chain(tmp_path, rotation=Rotation(size=500))
    write(writer, range(60))
    writer.end()
    paths = segments(tmp_path)
    assert len(paths) > 2
    assert sequences(tmp_path) == list(range(1, 60 + len(paths) + 2))
    assert all(kinds(path)[0] == "segment_opened" for path in paths)
    assert kinds(paths[-1])[-1] == "journal_closed"
    assert verify(tmp_path, KEY.public_key()).is_intact


def test_one_that_is_old_enough_is_too(tmp_path: Path) -> None:
    wall = Wall()
    writer = chain(tmp_path, wall=wall, rotation=Rotation(age=60))
    write(writer, [1])
    wall.now += 59
    writer.rotate(False)
    assert len(segments(tmp_path)) == 1
    wall.now += 1
    writer.rotate(False)
    assert len(segments(tmp_path)) == 2
    writer.end()


def test_one_in_which_nothing_happened_goes_on_until_something_does_in_another_hour(tmp_path: Path) -> None:
    wall = Wall()
    writer = chain(tmp_path, wall=wall)
    wall.now += 10_000
    writer.rotate(False)
    assert len(segments(tmp_path)) == 1
    write(writer, [1])
    first, second = segments(tmp_path)
    assert (first.parent.name, second.parent.name) == ("hour=08", "hour=10")
    assert kinds(first) == ["segment_opened"]
    assert beside(first, "seal").exists()
    writer.end()


def test_a_segment_ends_with_its_hour(tmp_path: Path) -> None:
    wall = Wall()
    wall.now = START + 3590
    writer = chain(tmp_path, wall=wall)
    write(writer, [1])
    wall.now += 10
    writer.rotate(False)
    assert [path.parent.name for path in segments(tmp_path)] == ["hour=08", "hour=09"]
    writer.end()


def test_a_segment_ends_where_summaries_count_for_longer_than_it_says(tmp_path: Path) -> None:
    window = [10.0]
    writer = Chain(tmp_path, "a", 0, KEY, Wall(), Rotation(), {}, lambda: window[0])
    for seconds in (10.0, 60.0, 5.0):
        window[0] = seconds
        writer.rotate(False)
    writer.end()
    assert [json.loads(next(segment_lines(path)))["window_us"] for path in segments(tmp_path)] == [10**7, 6 * 10**7]


def test_lines_that_a_full_disk_refused_are_written_later_without_a_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = chain(tmp_path)
    write(writer, [1])

    def full(self: OpenSegment, lines: list[bytes]) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(OpenSegment, "write", full)
        writer.add(event(2))
        with pytest.raises(OSError, match="No space"):
            writer.flush()
    assert writer.waiting == 1
    writer.add(event(3))
    writer.flush()
    writer.end()
    assert sequences(tmp_path) == [1, 2, 3, 4, 5]
    assert verify(tmp_path, KEY.public_key()).is_intact


def test_a_segment_that_cannot_be_followed_goes_on(tmp_path: Path) -> None:
    wall = Wall()
    writer = chain(tmp_path, wall=wall)
    write(writer, [1])
    wall.now += 3600
    (tmp_path / "date=2026-03-01" / "hour=09").write_text("in the way")
    with pytest.raises(OSError, match="File exists"):
        writer.rotate(True)
    writer.add(event(2))
    writer.flush()
    (tmp_path / "date=2026-03-01" / "hour=09").unlink()
    writer.rotate(True)
    writer.end()
    assert sequences(tmp_path) == [1, 2, 3, 4, 5]
    assert verify(tmp_path, KEY.public_key()).is_intact


def test_a_seal_that_cannot_be_written_is_written_later(tmp_path: Path) -> None:
    writer = chain(tmp_path, rotation=Rotation(size=100))
    blocker = beside(segments(tmp_path)[0], "seal.tmp")
    blocker.mkdir()
    with pytest.raises(OSError, match="directory"):
        write(writer, [1])
    blocker.rmdir()
    write(writer, [2])
    writer.end()
    assert verify(tmp_path, KEY.public_key()).is_intact
