"""Atomic writes: a file is written whole or not at all. When it has its name, it is on disk, and then its name is too.

Rules:
* `write_atomically` writes a file beside the old one, and renames it over that. Mode and owner of the old file stay.
* `create_atomically` replaces nothing. Several processes may create a file at once: one of them wins. Their numbers do
  not tell them apart: in containers that share a folder, all may be process 1.
* While a file is created it has no name, where the file system can do so: nothing is left of a process that is killed
  then.
* A new file is for its owner alone.
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
            sync_folder(path.parent)
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


def create_atomically(path: Path, content: bytes) -> bool:
    """Make a file with this content. False: there is one already, perhaps of a faster process. Raises OSError."""
    descriptor, fresh, is_named = _fresh(path)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
            # Unlike a rename, it fails if another process was first. With `src_dir_fd` it follows the link in /proc.
            os.link(fresh, path, src_dir_fd=descriptor)
    except FileExistsError:
        return False
    finally:
        if is_named:
            os.unlink(fresh)
    sync_folder(path.parent)
    return True


def _fresh(path: Path) -> tuple[int, str, bool]:
    """An empty file in the same folder, its absolute path, and whether that is a name of its own. Raises OSError."""
    try:
        descriptor = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except OSError:  # e.g. NFS has no files without a name; another reason comes again below
        return *tempfile.mkstemp(dir=path.parent.absolute(), prefix=f".{path.name}."), True
    return descriptor, f"/proc/self/fd/{descriptor}", False


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
