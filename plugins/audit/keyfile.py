"""Key files: the journal's secrets, made where there are none. Only the owner may read them.

Rules:
* Several processes may make one at once. One of them wins, and all use that key. Their numbers do not tell them apart:
  in containers that share a folder, all may be process 1.
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
    fd, made = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(fd, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(fd)
        os.link(made, file)  # unlike a rename, it fails if another process was first
    except FileExistsError:
        return content_of(file)
    finally:
        os.unlink(made)
    return content
