"""Scarce: what a machine has none of at this moment, and may have in the next: descriptors and memory.

It is never the fault of the file or address that was wanted: whoever keeps something in step with it tries again.
"""

import errno

SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
MORE_DESCRIPTORS = "raise the limit of open files (ulimit -n)"


def is_scarce(error: OSError) -> bool:
    """Was there nothing left to do it with?"""
    return error.errno in SCARCE
