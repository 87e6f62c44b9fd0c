"""Stamps: they tell whether a file has changed, without reading it.

Take the stamp before reading the file, so that no change is missed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from time import sleep, time

FileStamp = tuple[int, ...]
MOMENT = 0.05  # seconds
MOMENTS = 10


def stamp(file: str | os.PathLike[str]) -> FileStamp | None:
    """A value that changes when the file is replaced, rewritten or touched. None: there is no such file."""
    try:
        return stamp_of(os.stat(file))
    except OSError:
        return None


def stamp_of(found: os.stat_result) -> FileStamp:
    """The stamp of a file from its `stat`."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


_CHANGED = 4  # index of the time of change in a stamp: nanoseconds since 1970; a rename counts
Stamps = tuple[FileStamp | None, ...]


def stamps(files: Iterable[str | os.PathLike[str]]) -> Stamps:
    """The stamp of each."""
    return tuple(map(stamp, files))


def stamps_at_rest(files: Sequence[str | os.PathLike[str]]) -> Stamps:
    """The stamps of files once they were left alone for a moment. This waits for at most `MOMENTS` such moments.

    For less than that moment, an editor that overwrites a file leaves the first half of it, and a script that renews a
    certificate and its key leaves a pair that does not match.
    """
    seen = stamps(files)
    for _ in range(MOMENTS):
        age = time() - max((each[_CHANGED] for each in seen if each is not None), default=0) / 1e9
        if not 0 <= age < MOMENT:
            break
        sleep(MOMENT - age)
        seen = stamps(files)
    return seen
