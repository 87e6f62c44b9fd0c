"""Frames: reading the zstd frames of a segment (`segments.py`).

Bytes that are no whole frame, or a frame that is larger than any that the writer makes, are damaged. Reading ends
there; reading from the end on begins before bytes that are no frame, and goes past a frame that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

import zstandard

LARGEST = 32 << 20  # bytes of events in one frame, more than the writer puts into any


class DamagedError(Exception):
    """The bytes are no frame of a segment."""


def frame_end(data: bytes, start: int) -> int:
    """The end of the frame that begins at `start` (RFC 8878). Raises DamagedError."""
    try:
        head = zstandard.get_frame_parameters(data[start : start + 18])
        position = start + zstandard.frame_header_size(data[start : start + 18])
    except zstandard.ZstdError as error:
        raise DamagedError("no frame of zstd begins here") from error
    last = False
    while not last:
        block = int.from_bytes(data[position : position + 3], "little")
        last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        position += 3 + (1 if kind == 1 else size)
        if position > len(data) or kind == 3:
            raise DamagedError("the frame is cut off")
    position += 4 if head.has_checksum else 0
    if position > len(data):
        raise DamagedError("the frame is cut off")
    return position


def frame_lines(frame: bytes) -> list[bytes]:
    """The lines of one frame. Raises DamagedError."""
    try:
        if zstandard.frame_content_size(frame) > LARGEST:
            raise DamagedError("the frame is too large")
        decompressor = zstandard.ZstdDecompressor()  # a context of zstd serves one thread
        # The limit is for frames that do not say their size: the command `zstd` makes them where it reads from a pipe.
        return decompressor.decompress(frame, LARGEST, allow_extra_data=False).splitlines(keepends=True)
    except zstandard.ZstdError as error:
        raise DamagedError(f"the frame cannot be decompressed: {error}") from error


def frames(data: bytes, start: int = 0) -> Iterator[tuple[int, list[bytes]]]:
    """Each frame's end and lines, up to the first damaged frame: bytes after the last end are not whole."""
    while start < len(data):
        try:
            end = frame_end(data, start)
            lines = frame_lines(data[start:end])
        except DamagedError:
            return
        yield end, lines
        start = end


def last_frames(data: bytes) -> tuple[int, Iterator[list[bytes]]]:
    """The end of the last frame, and the lines of each frame, the last one first."""
    ends = [0]
    with suppress(DamagedError):
        while ends[-1] < len(data):
            ends.append(frame_end(data, ends[-1]))
    return ends[-1], _backwards(data, ends)


def _backwards(data: bytes, ends: list[int]) -> Iterator[list[bytes]]:
    for start, end in reversed([*pairwise(ends)]):
        with suppress(DamagedError):
            yield frame_lines(data[start:end])
