"""Plain files: anything else in a journal's folder (links, pipes, devices) is ignored, and never written through.

A user with write access to that folder could otherwise make the proxy wait at a pipe for ever, or overwrite the target
of a link with the rights of the proxy. Links to folders are not followed either: every reader of a journal reads the
same files, those that `verify` checks.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

Unreadable = Callable[[OSError], object]  # is told of a folder that cannot be read


def refuse(error: OSError) -> NoReturn:
    """Raise it: a reader of a journal must not miss a part of it."""
    raise error


def pass_over(error: OSError) -> None:
    """Ignore it: a proxy starts whatever is in the folder."""


def is_plain(path: Path) -> bool:
    """Whether the path is a regular file: no link, pipe, device or folder."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def listed(folder: Path, unreadable: Unreadable = refuse) -> list[os.DirEntry[str]]:
    """The entries of a folder, in the order of their names; none if it is gone or no folder."""
    with suppress(FileNotFoundError, NotADirectoryError):
        try:
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except PermissionError as error:
            unreadable(error)
    return []


def below(folder: Path) -> list[Path]:
    """All files below a folder, in the order of their paths. A link counts as a file. Raises OSError."""
    found: list[Path] = []
    folders = [folder]
    while folders:
        here = folders.pop()
        for entry in listed(here):
            (folders if entry.is_dir(follow_symlinks=False) else found).append(here / entry.name)
    return sorted(found)


def create(path: Path) -> BinaryIO:
    """A new file, which replaces anything at this path. Raises OSError."""
    path.unlink(missing_ok=True)
    return open(path, "xb")
