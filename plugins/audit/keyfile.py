"""Key files: the journal's secrets, made where there are none. Only the owner may read them.

Rules:
* Several processes may make one at once. One of them wins, and all use that key. Their numbers do not tell them apart:
  in containers that share a folder, all may be process 1.
* While it is made it has no name, where the file system can do so: nothing is left of a process that is killed then.
* Only a regular file is read: reading a pipe may wait for ever, and a device may have no end.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from proxy.plugin.files import open_regular

LARGEST = 1 << 20  # bytes of a file that are read


class KeyFileError(Exception):
    """A file has no usable key."""


def content_of(file: Path) -> bytes:
    """What is in a key file. Raises OSError."""
    with open_regular(file) as opened:
        return opened.read(LARGEST)


def made_once(file: Path, content: bytes) -> bytes:
    """Make the file with this content. Returns its content, which may be of a faster process. Raises OSError."""
    fd, made, is_named = _fresh(file)
    try:
        with os.fdopen(fd, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(fd)
            # Unlike a rename, it fails if another process was first. With `src_dir_fd` it follows the link in /proc.
            os.link(made, file, src_dir_fd=fd)
    except FileExistsError:
        return content_of(file)
    finally:
        if is_named:
            os.unlink(made)
    return content


def _fresh(file: Path) -> tuple[int, str, bool]:
    """An empty file in the same folder, its absolute path, and whether that is a name of its own. Raises OSError."""
    try:
        fd = os.open(file.parent, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except OSError:  # e.g. NFS has no files without a name; another reason comes again below
        return *tempfile.mkstemp(dir=file.parent.absolute(), prefix=f".{file.name}."), True
    return fd, f"/proc/self/fd/{fd}", False
