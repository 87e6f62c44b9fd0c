"""Frames: an incomplete or too large frame is damaged."""

from __future__ import annotations

import os

import pytest
import zstandard

from plugins.audit.frames import LARGEST, DamagedError, frame_end, frame_lines, frames


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
    with pytest.raises(DamagedError, match="does not say its size"):
        frame_lines(zstandard.ZstdCompressor(write_content_size=False).compress(b"1\n"))
