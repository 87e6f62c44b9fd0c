"""Machine: how much memory this process and those beside it may use, and how many open files."""

from __future__ import annotations

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
STATM = "/proc/self/statm"
PAGE = os.sysconf("SC_PAGE_SIZE")
PART = 4  # one byte in so many is for what connections hold
# Objects until the collector looks for cycles among new ones, and how often it then looks at older ones too. Serving
# makes no cycles, but a large message has many objects: looking at 100,000 takes 20 to 60 ms, and at these 3 ms.
GARBAGE = 5_000, 1, 20_000
SPARE_FILES = 1000  # besides the two of each connection: ports, pipes, logs, discovery
MOST = 1 << 30  # bytes for each worker, unless the configuration says otherwise
YOUNG = 1  # the generations that the collector checks often


def memory_of_worker(config: Config) -> int:
    """How many bytes the connections of one worker may hold."""
    return config.limits.memory or min(memory() // PART // config.workers, MOST)


def begin_to_serve() -> None:
    """Exempt the objects made at start-up from garbage collection, since they stay."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


def give_back() -> None:
    """Return free memory to the system that Python or the C library keeps for later use."""
    _empty_free_lists()
    if TRIM is not None:
        TRIM(0)


def resident() -> int:
    """How many bytes of the machine's memory this process takes. 0: the system does not say so at the moment."""
    with suppress(OSError), open(STATM, "rb", buffering=0) as file:
        return int(file.read().split()[1]) * PAGE
    return 0


def _empty_free_lists() -> None:
    """Free the objects that Python keeps for reuse.

    It keeps 2,000 tuples of each small size, which lie wherever the last large message was read. Each of them keeps a
    page in use, or with Python's own allocator an arena of 1 MiB. A full collection frees them. It visits nothing while
    all objects are frozen, and so takes 2 us.
    """
    gc.collect(YOUNG)  # before the freeze, after which all objects count as old
    gc.freeze()
    gc.collect()
    gc.unfreeze()


def memory(root: Path = SYSTEM) -> int:
    """The machine's bytes of memory, or what control groups leave of them."""
    return min([os.sysconf("SC_PHYS_PAGES") * PAGE, *_of_groups(root)])


def _of_groups(root: Path) -> Iterator[int]:
    """The memory limits of this process's control groups. "max" is no limit."""
    for file in _files(root):
        with suppress(OSError, ValueError):
            yield int(file.read_text())


def _files(root: Path) -> Iterator[Path]:
    """The files with these limits, in both versions. A container sees its own group as the topmost."""
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
    """Raise the limit of open files to what the limit of connections needs, if allowed."""
    wanted = 2 * limits.connections + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most < wanted and "connections" in limits.model_fields_set:  # the default limit was not asked for
        way_out = f"raise the hard limit to {wanted} (ulimit -Hn), or lower limits.connections"
        log.warning("too few open files for limits.connections", hard_limit=hard, way_out=way_out)
