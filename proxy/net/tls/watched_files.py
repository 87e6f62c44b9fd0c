"""Watched files of TLS: a context made of certificates, keys and authorities. It is made again when they change.

A connection keeps the context that it began with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from proxy.config.tls import UnusableError
from proxy.net.process import StartError
from proxy.text.watched import WatchedFile

T = TypeVar("T")


class WatchedFiles(WatchedFile[T]):
    """The files of one `tls:`. Raises StartError if they are unusable at first."""

    def __init__(self, what: str, files: Sequence[str], make: Callable[[], T]) -> None:
        try:
            super().__init__(what, lambda name: make(), files=files)
        except UnusableError as error:
            raise StartError(f"{what}.{error.option}: {error}") from None
