"""Regular files: a file that is read whole must be one.

The reader of a pipe in place of a file would wait for ever, and all clients of the worker with it. A device may have no
end.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO


def open_regular(name: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to read it. Raises OSError, also if it is no regular file."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    raise OSError(errno.EINVAL, "no regular file", name)
