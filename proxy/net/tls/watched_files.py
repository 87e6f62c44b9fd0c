"""Watched files: what they are made into, and made into again when they change.

Rules:
* Files are looked at four times a second. What changed is read once it has been the same for two looks, so that a
  certificate and its key, written one after the other, are not read in between.
* What cannot be used changes nothing, and is said once. What was made before stays with whoever has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import structlog
import trio

from proxy.config.tls import UnusableError
from proxy.net.process import StartError
from proxy.text.stamp import Stamp, stamp

log = structlog.get_logger()

EVERY = 0.25  # seconds

T = TypeVar("T")
Look = tuple[Stamp | None, ...]


class WatchedFiles(Generic[T]):
    """`current` is what the files were made into last. Raises StartError where nothing can be made of them at first."""

    def __init__(self, what: str, files: Sequence[str], make: Callable[[], T]) -> None:
        self._what, self._files, self._make = what, files, make
        self._read = self._seen = self._look()
        try:
            self.current = make()
        except UnusableError as error:
            raise StartError(f"{what}.{error.option}: {error}") from None

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            await trio.sleep(EVERY)
            self.look()

    def look(self) -> None:
        """Look once."""
        last, self._seen = self._seen, self._look()
        if self._seen == self._read or self._seen != last:
            return
        try:
            self.current = self._make()
        except UnusableError as error:
            self._read = self._seen
            log.error("changed files cannot be used", what=self._what, why=str(error), still="what was read before")
        else:
            self._read = self._seen
            log.info("read again", what=self._what)

    def _look(self) -> Look:
        return tuple(map(stamp, self._files))
