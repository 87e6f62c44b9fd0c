"""Scarce resources: descriptors and memory. The machine has none left at this moment, and may have some in the next.

The error is never the fault of the file or address that was wanted: the caller should try again later.
"""

import errno
import os

SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
MORE_MEMORY = "free memory on this machine"
WAYS_OUT = {
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "raise this machine's limit of open files (sysctl fs.file-max)",
}


def is_scarce(error: OSError) -> bool:
    """Did this fail because descriptors or memory ran out?"""
    return error.errno in SCARCE


def why_scarce(error: OSError) -> str:
    """The reason of such a failure, and a way out."""
    return f"{os.strerror(error.errno or 0).lower()}; {way_out(error.errno)}"


def way_out(number: int | None) -> str:
    """The way out of such a failure, by its errno. Only the limits of open files have one of their own."""
    return WAYS_OUT.get(number or 0, MORE_MEMORY)


def scarcity(error: BaseException) -> str | None:
    """The reason and a way out, if descriptors or memory ran out and nothing else failed. `error` may be a group."""
    if isinstance(error, BaseExceptionGroup):
        reasons = [scarcity(each) for each in error.exceptions]
        return reasons[0] if all(reasons) else None
    return why_scarce(error) if isinstance(error, OSError) and is_scarce(error) else None
