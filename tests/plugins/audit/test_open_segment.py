"""An open segment: a file of complete frames, whatever happened to its writer."""

from __future__ import annotations

import errno
import os
import resource
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
import zstandard

from plugins.audit.frames import frames
from plugins.audit.open_segment import OpenSegment
from plugins.audit.recovery import is_locked
from plugins.audit.segments import SegmentName, segments
from tests.plugins.audit.written import START

NAME = SegmentName.at(START, "3f9c2a71", 0, 1)


def test_what_is_written_can_be_read_at_once(tmp_path: Path) -> None:
    segment = OpenSegment(tmp_path, NAME)
    segment.write([b"1\n", b"2\n"])
    segment.write([b"3\n"])
    assert segments(tmp_path) == [segment.path]
    data = segment.path.read_bytes()
    assert [lines for _, lines in frames(data)] == [[b"1\n", b"2\n"], [b"3\n"]]
    assert zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read() == b"1\n2\n3\n"
    assert (segment.events, segment.size) == (3, len(data))
    segment.close()


def test_it_is_locked_until_it_is_closed(tmp_path: Path) -> None:
    segment = OpenSegment(tmp_path, NAME)
    assert is_locked(segment.path)
    segment.close()
    assert not is_locked(segment.path)


def test_what_a_full_disk_took_of_a_frame_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segment = OpenSegment(tmp_path, NAME)
    segment.write([b"1\n"])
    real = os.write

    def half(fd: int, data: memoryview) -> int:
        if len(data) < 5:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(fd, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="No space left"):
        segment.write([b"2\n"])
    monkeypatch.undo()
    segment.write([b"3\n"])
    assert [lines for _, lines in frames(segment.path.read_bytes())] == [[b"1\n"], [b"3\n"]]
    segment.close()


def test_one_whose_name_is_not_known_to_be_on_disk_is_not_there(tmp_path: Path) -> None:
    """A second descriptor is needed for the folder, and there is one only."""
    free = os.dup(0)
    os.close(free)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, before[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            OpenSegment(tmp_path, NAME)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert segments(tmp_path) == []
    OpenSegment(tmp_path, NAME).close()


def test_what_will_have_been_written_has_its_hash_before(tmp_path: Path) -> None:
    segment = OpenSegment(tmp_path, NAME)
    segment.write([b"1\n"])
    lines = [b"2\n", b"3\n"]
    expected = segment.sha256_with(lines)
    segment.write(lines)
    assert segment.sha256 == expected == sha256(segment.path.read_bytes()).hexdigest()
    segment.close()


def test_segments_are_written_and_read_by_several_threads_at_once(tmp_path: Path) -> None:
    """As the journals of several clusters are: each has its own thread."""

    def is_as_written(number: int) -> bool:
        segment = OpenSegment(tmp_path, SegmentName.at(START, f"instance{number}", 0, 1))
        told = [[b'{"frame":%d,"line":%d}\n' % (frame, line) for line in range(50)] for frame in range(200)]
        for lines in told:
            segment.write(lines)
        segment.close()
        return [lines for _, lines in frames(segment.path.read_bytes())] == told

    with ThreadPoolExecutor(4) as several:
        assert all(several.map(is_as_written, range(4)))
