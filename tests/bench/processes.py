"""A contender's cost: CPU seconds and memory of its process and of all its descendants.

A process's time includes all its threads. The time of a child that has ended is in its parent's time for children.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
# Fields of /proc/PID/stat, counted from the one after the name. The name may hold spaces, so it is cut off first.
PARENT, UTIME, STIME, CHILDREN_UTIME, CHILDREN_STIME = 1, 11, 12, 13, 14
CPU = 2  # of clock_getcpuclockid(3): the clock of all the time that a process has run


def tree(pid: int) -> dict[int, list[int]]:
    """The numbers of /proc/PID/stat for the process and for all its descendants."""
    every: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        every[int(path.parent.name)] = [0, *map(int, fields[1:])]
    found = {pid: every[pid]}
    while more := {child: every[child] for child in every.keys() - found.keys() if every[child][PARENT] in found}:
        found |= more
    return found


def cpu_seconds(pid: int) -> float:
    """User and system time spent so far.

    /proc has it in ticks of 10 ms only: that would be 4 % of what a slow load takes. The clocks of processes are exact.
    """
    return sum(_own(process, numbers) + _of_ended(numbers) for process, numbers in tree(pid).items())


def _own(pid: int, numbers: list[int]) -> float:
    try:
        return time.clock_gettime(~pid << 3 | CPU)
    except OSError:  # it ended meanwhile
        return (numbers[UTIME] + numbers[STIME]) / TICKS


def _of_ended(numbers: list[int]) -> float:
    return (numbers[CHILDREN_UTIME] + numbers[CHILDREN_STIME]) / TICKS


def memory_mb(pid: int) -> float:
    """Resident memory now; memory that several processes share is counted once for each."""
    pages = sum(int(Path(f"/proc/{process}/statm").read_text().split()[1]) for process in tree(pid))
    return pages * PAGE / 1e6


EVERY = sorted(os.sched_getaffinity(0))  # the processors that this process may use


def processors(which: int | None) -> set[int]:
    """One processor, by number modulo their count; None: all of them."""
    return set(EVERY) if which is None else {EVERY[which % len(EVERY)]}


def place(pid: int, which: int | None) -> None:
    """Pin the process and its descendants, with all their threads, to this processor; None: to all."""
    for process in tree(pid):
        for task in Path(f"/proc/{process}/task").iterdir():
            os.sched_setaffinity(int(task.name), processors(which))


@contextmanager
def started_on(which: int | None) -> Iterator[None]:
    """Pin processes that are started in this block to this processor; None: to all."""
    os.sched_setaffinity(0, processors(which))
    try:
        yield
    finally:
        os.sched_setaffinity(0, processors(None))


class Machine:
    """The whole machine from now on: how much of it do other programs take?"""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._busy, self._ours = self._spent()

    def taken_by_others(self) -> float:
        """Their share of all processors, with the time that a hypervisor gave to other machines (steal)."""
        busy, ours = self._spent()
        there = (time.monotonic() - self._start) * (os.cpu_count() or 1)
        return max(0.0, (busy - self._busy) - (ours - self._ours)) / there

    def _spent(self) -> tuple[float, float]:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
        return (user + nice + system + irq + softirq + steal) / TICKS, cpu_seconds(os.getpid())
