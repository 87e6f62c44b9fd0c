"""Key files: secrets of the journal's own, made where there are none. Only the owner may read them.

# Several processes may make one at once: one of them wins, and all have that one.
"""

from __future__ import annotations

import os
from pathlib import Path


class KeyFileError(Exception):
    """A file with no key that can be used."""


def made_once(file: Path, content: bytes) -> bytes:
    """Make the file with this content. Gives what is in it: that of another process which was first. Raises OSError."""
    made = file.with_name(f".{file.name}.{os.getpid()}")
    made.unlink(missing_ok=True)  # what a killed process left, or a link that somebody put there
    fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(fd)
    try:
        os.link(made, file)  # unlike a rename it fails where another process was first
    except FileExistsError:
        return file.read_bytes()
    finally:
        made.unlink()
    return content
