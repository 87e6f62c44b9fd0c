"""A file that is read again when it changes. A broken new one leaves what there was.

Rules:
* A file has changed when its inode, size or time of change has: a file that is replaced whole is never half read.
* Reading is the caller's to place: `look()` may take a while, and is safe in a thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Reloaded(Generic[T]):
    """What a file says now, or said when it was last right. Raises BadFileError if it never was."""

    def __init__(self, file: str, load: Callable[[str], T]) -> None:
        self.file = file
        self._load = load
        self._seen = self._mark()
        self.value = load(file)

    def _mark(self) -> tuple[int, ...]:
        try:
            found = os.stat(self.file)
        except OSError:
            return ()
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def look(self) -> bool:
        """Read it again if it changed. True: it did. Raises BadFileError, once, where what is new is not right."""
        mark = self._mark()
        if mark == self._seen:
            return False
        self._seen = mark
        self.value = self._load(self.file)
        return True
