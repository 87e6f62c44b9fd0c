"""Regular files: a file that is read whole must be one.

The reader of a pipe in place of a file would wait for ever, and all clients of the worker with it. A device may have no
end.

Within `read_instead`, files have other contents than on the disk. They are in memory, as files, so that all that reads
them can be as it is.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import BinaryIO

OWN = 0o600  # rights of a file in memory
_instead: ContextVar[Mapping[str, str]] = ContextVar("_instead")  # by name: the path of the file that is read


def open_regular(name: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to read it. Raises OSError, also if it is no regular file."""
    descriptor = os.open(place_of(name), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    raise OSError(errno.EINVAL, "no regular file", name)


def why_unread(error: OSError) -> str:
    """Why a file could not be read, and what to do about it: "fact; way out"."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file; check the path"
    fact = "this is a folder" if isinstance(error, IsADirectoryError) else f"cannot be read ({error.strerror})"
    return f"{fact}; {way_out(error)}"


def way_out(error: OSError) -> str:
    """What to do about a file that is there and cannot be read."""
    if isinstance(error, IsADirectoryError):
        return "name a file in it"
    return "check its permissions" if isinstance(error, PermissionError) else "check the path"


def place_of(name: str | os.PathLike[str]) -> str:
    """The path at which the content of a file is read."""
    return _instead.get({}).get(os.fspath(name), os.fspath(name))


@contextmanager
def read_instead(contents: Mapping[str, bytes]) -> Iterator[None]:
    """Within this, these files have these contents, whatever is on the disk."""
    with ExitStack() as stack:
        places = {}
        for name, content in contents.items():
            descriptor = os.memfd_create("in force", os.MFD_CLOEXEC)
            memory = stack.enter_context(open(descriptor, "wb"))
            os.fchmod(descriptor, OWN)
            memory.write(content)
            memory.flush()
            places[name] = f"/proc/self/fd/{descriptor}"
        token = _instead.set(places)
        stack.callback(_instead.reset, token)
        yield
