"""Atomic writes: a file is written whole or not at all. It is written beside the old one, synced, and renamed over it.

Rules:
* Mode and owner of the old file stay; a new file is for its owner alone.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from proxy.text.stamp import FileStamp, stamp_of


def write_atomically(path: Path, content: bytes, unless: Callable[[], bool] = lambda: False) -> FileStamp | None:
    """Put this content in the file's place, and return its stamp. None: nothing was written, since `unless` holds.

    `unless` is asked last, just before the rename. Raises OSError; then the file is as it was.
    """
    descriptor, fresh = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            _keep_mode_and_owner(path, descriptor)
            os.fsync(descriptor)
            if unless():
                os.unlink(fresh)
                return None
            os.replace(fresh, path)
            _to_disk(path.parent)
            return stamp_of(os.fstat(descriptor))  # after the rename, which changes it
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise


def _keep_mode_and_owner(path: Path, descriptor: int) -> None:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (there.st_uid, there.st_gid):
        os.fchown(descriptor, there.st_uid, there.st_gid)
    os.fchmod(descriptor, there.st_mode & 0o7777)


def _to_disk(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
