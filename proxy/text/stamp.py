"""Stamps: how it is seen that a file has changed, without reading it.

Take the stamp before reading the file, so that no change is missed.
"""

from __future__ import annotations

import os

Stamp = tuple[int, ...]


def stamp(file: str | os.PathLike[str]) -> Stamp | None:
    """What is another when the file is: replaced, rewritten or touched. None: it is not there."""
    try:
        return stamp_of(os.stat(file))
    except OSError:
        return None


def stamp_of(found: os.stat_result) -> Stamp:
    """The stamp of a file that is there, or open."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
