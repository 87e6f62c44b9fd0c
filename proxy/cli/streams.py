"""Streams: standard streams that were closed before the command began, or that take nothing.

A shell closes one by `<&-` or `>&-`, and some programs start others without any. Python then has None in its place.

Rules:
* A closed standard input is empty.
* Writing to a closed standard output is an error: the result would be lost, and nobody would be told.
* What goes to a closed standard error is lost. The exit code is left.
* No file that a command opens gets the number of such a stream: another program that it starts would write into it.
* What could not be written is told once. Python would try again as it ends, complain of that, and end with 120.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


@contextmanager
def standard_streams() -> Iterator[None]:
    """Within this, and until the process ends, the rules hold."""
    _open_closed()
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            _drop_unwritten(stream)


def _open_closed() -> None:
    """Open those that are closed, in the order of their numbers: each gets the lowest one that is free."""
    if sys.stdin is None:
        sys.stdin = os.fdopen(_nowhere(os.O_RDONLY), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(_nowhere(os.O_RDONLY), "w", encoding="utf-8")  # it can only be read, so writing fails
    if sys.stderr is None:
        sys.stderr = os.fdopen(_nowhere(os.O_WRONLY), "w", encoding="utf-8")


def _nowhere(access: int) -> int:
    descriptor = os.open(os.devnull, access)
    os.set_inheritable(descriptor, True)
    return descriptor


def _drop_unwritten(stream: TextIO) -> None:
    try:
        stream.flush()
    except OSError:
        os.dup2(_nowhere(os.O_WRONLY), stream.fileno())
