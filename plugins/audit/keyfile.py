"""Key files: the journal's secrets, made where there are none. Only the owner may read them.

Rules:
* Several processes may make one at once. One of them wins, and all use that key.
* Only a regular file is read: reading a pipe may wait for ever, and a device may have no end.
"""

from __future__ import annotations

from pathlib import Path

from proxy.plugin.files import create_atomically, open_regular

LARGEST = 1 << 20  # bytes of a file that are read


class KeyFileError(Exception):
    """A file has no usable key."""


def content_of(file: Path) -> bytes:
    """What is in a key file. Raises OSError."""
    with open_regular(file) as opened:
        return opened.read(LARGEST)


def made_once(file: Path, content: bytes) -> bytes:
    """Make the file with this content. Returns its content, which may be of a faster process. Raises OSError."""
    return content if create_atomically(file, content) else content_of(file)
