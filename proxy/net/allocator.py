"""Allocator: the memory of a gateway is the C library's to give, since that is given back to the system page by page.

Python's own allocator takes arenas of 1 MiB, and gives back those in which nothing is left. While one large message is
read, some small thing of everybody else comes to lie in each of its arenas: of a request with 50,000 topics 47 MiB
stayed for good; with the allocator of the C library 4 MiB do. Requests take the same time with both.

Rules:
* An allocator is chosen when a process begins. So the process begins once more, in place of itself.
* Who sets PYTHONMALLOC has chosen. Without glibc nothing is, since nothing else can be told to give back.
"""

from __future__ import annotations

import os
import sys

CHOICE = "PYTHONMALLOC"
GLIBC = "CS_GNU_LIBC_VERSION"


def begin_with_the_systems() -> None:
    """Begin this process once more, with the allocator of the C library, unless one was chosen."""
    if CHOICE in os.environ or not sys.executable or not _is_glibc():
        return
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | {CHOICE: "malloc"})


def _is_glibc() -> bool:
    try:
        return GLIBC in os.confstr_names and bool(os.confstr(GLIBC))
    except (OSError, ValueError):
        return False
