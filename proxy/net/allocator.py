"""Allocator: a gateway takes its memory from the C library's `malloc`, which gives it back to the system page by page.

Python's own allocator takes arenas of 1 MiB, and gives back those in which nothing is left. While one large message is
read, some small thing of everybody else comes to lie in each of its arenas: of a request with 50,000 topics 47 MiB
stayed for good; with `malloc` 4 MiB do. What a link does for a request takes 0.2 us more of 5.2.

Rules:
* An allocator is chosen when a process begins. So the process is executed once more, in place of itself. Nothing that
  takes long to import is imported before.
* Who sets PYTHONMALLOC has chosen; so has who runs Python in its development mode, or deaf to the environment (-E).
* Without glibc Python's stays: nothing else can be told to give back. So it does where the process cannot be executed
  again: a gateway that takes more memory than it must is better than none.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

CHOICE = "PYTHONMALLOC"
TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's


def use_malloc() -> None:
    """Execute this process once more, with `malloc`, unless an allocator was chosen."""
    is_chosen = CHOICE in os.environ or sys.flags.dev_mode or sys.flags.ignore_environment
    if is_chosen or not sys.executable or TRIM is None:
        return
    with suppress(OSError):
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | {CHOICE: "malloc"})
