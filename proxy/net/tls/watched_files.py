"""Watched files of TLS: the context that certificates, keys and authorities make, made again when they change.

Rules:
* Files are looked at four times a second, in a thread. A connection keeps the context that it began with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import structlog
import trio

from proxy.config.tls import UnusableError
from proxy.net.process import StartError
from proxy.text.problems import Reload
from proxy.text.watched import WatchedFile

log = structlog.get_logger()

EVERY = 0.25  # seconds

T = TypeVar("T")


class WatchedFiles(WatchedFile[T]):
    """The files of one `tls:`. Raises StartError where nothing can be made of them at first."""

    def __init__(self, what: str, files: Sequence[str], make: Callable[[], T]) -> None:
        try:
            super().__init__(what, lambda name: make(), files=files)
        except UnusableError as error:
            raise StartError(f"{what}.{error.option}: {error}") from None

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            await trio.sleep(EVERY)
            await trio.to_thread.run_sync(self.look)

    def look(self) -> Reload | None:
        """Look once, and tell."""
        reload = super().look()
        if reload is not None and reload.taken:
            log.info("read again", what=reload.file)
        elif reload is not None:
            why = "\n".join(reload.said)
            log.error("changed files cannot be used", what=reload.file, why=why, still="what was read before")
        return reload
