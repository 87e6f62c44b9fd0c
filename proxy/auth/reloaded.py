"""A file that is read again when it changes. A broken new one leaves what there was.

Rules:
* A file has changed when its stamp has: a file that is replaced whole is never half read.
* Reading is the caller's to place: `look()` may take a while, and is safe in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from proxy.text.problems import BadFileError
from proxy.text.stamp import stamp

T = TypeVar("T")


class Reloaded(Generic[T]):
    """What a file says now, or said when it was last right. Raises BadFileError if it never was."""

    def __init__(self, file: str, load: Callable[[str], T]) -> None:
        self.file = file
        self._load = load
        self._seen = stamp(file)
        self.value = load(file)

    def look(self) -> bool:
        """Read it again if it changed. True: it did. Raises BadFileError, once, where what is new is not right."""
        now = stamp(self.file)
        if now == self._seen:
            return False
        try:
            self.value = self._load(self.file)
        except BadFileError:
            self._seen = now
            raise
        self._seen = now
        return True
