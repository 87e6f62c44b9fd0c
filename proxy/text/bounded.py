"""Bounded reading: an input that people name may be a pipe, and may have no end.

A configuration must be a regular file (`regular.py`). What a subcommand is given may come from another command, so that
only its length tells.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import IO, AnyStr

MOST = 256 << 20  # bytes, or characters of text
LONGEST_LINE = 1 << 20  # characters


def read_bounded(stream: IO[AnyStr]) -> AnyStr:
    """The whole input. Raises OSError if it has more than `MOST`."""
    found = stream.read(MOST + 1)
    if len(found) > MOST:
        raise _too_large(stream, f"more than {MOST >> 20} MiB")
    return found


def bounded_lines(stream: IO[str]) -> Iterator[str]:
    """The lines of an input, as they come. Raises OSError at one that is longer than `LONGEST_LINE`."""
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise _too_large(stream, f"a line of more than {LONGEST_LINE:,} characters")
        yield line


def _too_large(stream: IO[AnyStr], fact: str) -> OSError:
    return OSError(errno.EFBIG, f"{os.strerror(errno.EFBIG)}: {fact}", getattr(stream, "name", None))
