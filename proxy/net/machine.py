"""Machine: how much memory there is for this process and those beside it, and how many open files."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import structlog

from proxy.config import Config, LimitOptions
from proxy.net.allocator import TRIM

log = structlog.get_logger()

SYSTEM = Path("/")
CGROUPS = "sys/fs/cgroup"
PART = 4  # one in so many bytes is for what connections hold
M_ARENA_MAX = -8
GARBAGE = 20_000  # objects before the collector looks for cycles, of which serving makes none
SPARE_FILES = 1000  # besides the two of each connection: ports, pipes, logs, discovery
MOST = 1 << 30  # bytes for each worker, unless the configuration says more
YOUNG = 1  # the generations that the collector looks through often


def memory_of_worker(config: Config) -> int:
    """Bytes that the connections of one worker may hold."""
    return config.limits.memory or min(memory() // PART // config.workers, MOST)


def begin_to_serve() -> None:
    """What start-up made stays: the collector need not walk it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE, 4, 1000)
    share_arenas()


def share_arenas() -> None:
    """Have threads allocate where the loop does: what each would keep for itself is never given back."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc's
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)


def give_back() -> None:
    """Give memory that is free back to the system, where Python or the C library keeps it for later."""
    _empty_free_lists()
    if TRIM is not None:
        TRIM(0)


def _empty_free_lists() -> None:
    """Free what Python keeps of objects that are no more.

    It keeps 2,000 tuples of each small size, which lie wherever the last large message was read. Each of them keeps a
    page, or with Python's own allocator an arena of 1 MiB. A full collection frees them, and walks nothing while all
    objects are frozen: it takes 2 us.
    """
    gc.collect(YOUNG)  # what the next full collection would find: what is frozen meanwhile counts as old afterwards
    gc.freeze()
    gc.collect()
    gc.unfreeze()


def memory(root: Path = SYSTEM) -> int:
    """Bytes that there are: the machine's, or what control groups leave of them."""
    return min([os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_of_groups(root)])


def _of_groups(root: Path) -> Iterator[int]:
    """The limits of the control groups that this process is in; "max" is none."""
    for file in _files(root):
        with suppress(OSError, ValueError):
            yield int(file.read_text())


def _files(root: Path) -> Iterator[Path]:
    """Where their limits are, in both versions. A container sees its own group as the topmost."""
    groups = ""
    with suppress(OSError):
        groups = (root / "proc/self/cgroup").read_text()
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        name = "memory.limit_in_bytes" if controllers else "memory.max"
        group = root / CGROUPS / controllers
        yield group / name
        for part in Path(path).parts[1:]:
            group /= part
            yield group / name


def allow_open_files(limits: LimitOptions) -> None:
    """Let this process have as many open files as the limit of connections asks for, if it may."""
    wanted = 2 * limits.connections + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most < wanted and "connections" in limits.model_fields_set:  # nobody asked for the default
        way_out = f"raise the hard limit to {wanted} (ulimit -Hn), or lower limits.connections"
        log.warning("too few open files for limits.connections", hard_limit=hard, way_out=way_out)
