"""Locked: of several programs that change a file, one does so at a time.

Rules:
* The lock (flock) is on a file or a folder that is there. A program holds it from reading the file to writing it.
* It binds only programs that take it. People's editors do not.
* A lock that is never given back is not waited for without end.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 5.0  # seconds to wait for the lock
BREATHER = 0.01


class LockedError(Exception):
    """Another program has the lock. The text is one line for people."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock on a file or a folder. Raises LockedError, and OSError if it cannot be opened.

    Once the lock is held, the file at the path must still be the one that was opened: another program may have renamed
    a new one over it.
    """
    until = time.monotonic() + PATIENCE
    while True:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if not lock_soon(descriptor, until - time.monotonic()):
                raise LockedError(f"{path} is locked by another program; find out which: fuser {path}")
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                yield
                return
        finally:
            os.close(descriptor)


def lock_soon(descriptor: int, seconds: float) -> bool:
    """Take the lock, if another program has it for this time at most. Blocks meanwhile. Raises OSError likewise."""
    until = time.monotonic() + seconds
    while not lock_if_free(descriptor):
        if time.monotonic() > until:
            return False
        time.sleep(BREATHER)
    return True


def lock_if_free(descriptor: int, *, shared: bool = False) -> bool:
    """Take the lock, unless another program has it. Raises OSError where there are no locks."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
