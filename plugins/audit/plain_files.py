"""Plain files: anything else in a journal's folder (links, pipes, devices) is ignored, and never written through.

A user with write access to that folder could otherwise make the proxy wait at a pipe for ever, or overwrite the target
of a link with the rights of the proxy.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import BinaryIO


def is_plain(path: Path) -> bool:
    """Whether the path is a regular file: no link, pipe, device or folder."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def create(path: Path) -> BinaryIO:
    """A new file, which replaces anything at this path. Raises OSError."""
    path.unlink(missing_ok=True)
    return open(path, "xb")
