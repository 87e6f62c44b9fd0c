"""Allocator: a gateway uses the C library's `malloc`, which returns memory to the system page by page.

Python's own allocator takes arenas of 1 MiB, and returns only empty ones. While one large message is read, small
objects of other connections are placed in each of its arenas. After a request with 50,000 topics, 47 MiB stayed for
good; with `malloc` 4 MiB do. A link's work for a request takes 0.2 us longer, of 5.2.

A thread of the C library keeps freed small blocks for itself, by default 7 of each size, and takes them again at once.
With 64 connections served at a time, 7 are few: with 100 a request takes 3 % less. That is 3 MiB at most for a thread.

Rules:
* All threads share one arena of the C library. It never returns the end of a thread's own arena: after a thread had
  read a file of 10 MB, 45 MiB stayed. A thread keeps its arena, so they are shared before there are any threads.
* A block of 1 MiB or more has pages of its own, which are returned when it is freed, and are moved when it grows. By
  default the C library raises this limit after a large block was freed. Then 20 messages of 10 MiB that grew side by
  side left holes of 60 MiB between them.
* The allocator is chosen when a process begins. So the process executes itself once more. No module that takes long to
  import is imported before that.
* PYTHONMALLOC is a choice of the user. So are Python's development mode, and ignoring the environment (-E). What the
  user says in GLIBC_TUNABLES stays, and counts more than what is said here.
* Without glibc Python's allocator stays, because nothing else can be told to return memory. It also stays if the
  process cannot be executed again: a gateway that takes more memory than needed is better than none.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

CHOICE, TUNABLES = "PYTHONMALLOC", "GLIBC_TUNABLES"
KEPT_BLOCKS = "glibc.malloc.tcache_count=100"  # of each size up to 1 KiB, by each thread
M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD = -8, -3, -1
LARGE = 1 << 20  # bytes of a block that has pages of its own
SPARE = 4 << 20  # free bytes at the end of the arena that are not returned
LIBRARY = ctypes.CDLL(None)
TRIM = getattr(LIBRARY, "malloc_trim", None)  # glibc's


def tune_malloc() -> None:
    """Have all threads that are yet to start use the main arena, and each large block pages of its own."""
    mallopt = getattr(LIBRARY, "mallopt", None)  # glibc's
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)
        mallopt(M_MMAP_THRESHOLD, LARGE)
        mallopt(M_TRIM_THRESHOLD, SPARE)


def use_malloc() -> None:
    """Execute this process once more, with `malloc`, unless the user chose an allocator."""
    is_chosen = CHOICE in os.environ or sys.flags.dev_mode or sys.flags.ignore_environment
    if is_chosen or not sys.executable or TRIM is None:
        return
    tunables = ":".join(filter(None, (KEPT_BLOCKS, os.environ.get(TUNABLES))))  # the last one counts
    with suppress(OSError):
        chosen = os.environ | {CHOICE: "malloc", TUNABLES: tunables}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], chosen)
