"""Plain files: what lies in a journal's folder and is none is passed over, and never written through.

Whoever may write that folder could have the proxy wait at a pipe for ever, or write over and cut off what lies behind a
link: with the rights of the proxy, which may be more than theirs.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import BinaryIO


def is_plain(path: Path) -> bool:
    """Is a file there itself: no link, pipe, device or folder?"""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def create(path: Path) -> BinaryIO:
    """A new file in the place of whatever is there. Raises OSError."""
    path.unlink(missing_ok=True)
    return open(path, "xb")
