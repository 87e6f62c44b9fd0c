"""Frames: an incomplete or too large frame is damaged."""

from __future__ import annotations

import os

import pytest
import zstandard

from plugins.audit.frames import LARGEST, DamagedError, frame_end, frame_lines, frames, last_frames


def test_every_cut_of_a_frame_is_noticed() -> None:
    whole = zstandard.ZstdCompressor(write_checksum=True).compress(os.urandom(300_000))  # several blocks
    assert frame_end(whole + b"more", 0) == len(whole)
    for cut in (0, 3, 4, 8, 20, 1000, 150_000, len(whole) - 4, len(whole) - 1):
        with pytest.raises(DamagedError):
            frame_end(whole[:cut], 0)
        assert list(frames(whole[:cut])) == []


def test_a_frame_that_says_it_is_huge_is_not_decompressed() -> None:
    bomb = zstandard.compress(bytes(LARGEST + 1))
    with pytest.raises(DamagedError, match="too large"):
        frame_lines(bomb)


def test_a_frame_that_does_not_say_its_size_is_read_unless_it_is_too_large() -> None:
    untold = zstandard.ZstdCompressor(write_content_size=False)  # as the command `zstd` does in a pipe
    assert frame_lines(untold.compress(b"1\n2\n")) == [b"1\n", b"2\n"]
    with pytest.raises(DamagedError, match="cannot be decompressed"):
        frame_lines(untold.compress(bytes(LARGEST + 1)))


def test_frames_are_read_from_the_last_one_on_and_one_that_cannot_be_read_is_passed_over() -> None:
    made = [zstandard.ZstdCompressor(write_checksum=True).compress(b"%d\n" % number) for number in range(4)]
    made[1] = made[1][:-1] + bytes([made[1][-1] ^ 1])
    whole = b"".join(made)
    end, last = last_frames(whole + made[0][:-1])
    assert (end, list(last)) == (len(whole), [[b"3\n"], [b"2\n"], [b"0\n"]])
    assert list(last_frames(b"")[1]) == list(last_frames(b"no frame")[1]) == []
