"""Scarce resources: descriptors and memory. The machine has none left at this moment, and may have some in the next.

The error is never the fault of the file or address that was wanted: the caller should try again later.
"""

import errno
import os

SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
MORE_DESCRIPTORS = "raise the limit of open files (ulimit -n)"


def is_scarce(error: OSError) -> bool:
    """Did this fail because descriptors or memory ran out?"""
    return error.errno in SCARCE


def why_scarce(error: OSError) -> str:
    """The reason of such a failure, and a way out."""
    return f"{os.strerror(error.errno or 0).lower()}; {MORE_DESCRIPTORS}"
