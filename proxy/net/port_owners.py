"""Port owners: the processes that listen on ports of this machine, as far as this user may know.

Rules:
* Looking takes long: the kernel's table has all connections, and each process has all its descriptors. On a machine
  with 10,000 connections it takes more than 100 ms. One look finds the owners of any number of ports.
* A process of another user is "another process".
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

TABLES = "/proc/net/tcp", "/proc/net/tcp6"
LISTEN = "0A"  # "listening", in these tables
NOBODY_KNOWN = "another process"


def owners(ports: Collection[int]) -> dict[int, str]:
    """The process that listens on each of these ports."""
    found = dict.fromkeys(ports, NOBODY_KNOWN)
    sought = {f"socket:[{inode}]": port for inode, port in _listening() if port in found}
    for process in _processes() if sought else ():
        ours = {sought[link] for link in _descriptors(process) if link in sought}
        if ours:
            found |= dict.fromkeys(ours, f"process {process.name} ({_command(process)})")
    return found


def _processes() -> list[Path]:
    try:
        return list(Path("/proc").glob("[0-9]*"))
    except OSError:
        return []  # no descriptor is left for this


def _descriptors(process: Path) -> Iterator[str]:
    """What each descriptor of a process is."""
    try:
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError):  # it was closed meanwhile
                yield os.readlink(descriptor)
    except OSError:
        return  # another user's process, or one that ended meanwhile


def _command(process: Path) -> str:
    """The beginning of a process's command line."""
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()[:60]
    except OSError:
        return "which has ended"


def _listening() -> Iterator[tuple[str, int]]:
    """The inode and the port of each socket that listens."""
    for table in TABLES:
        try:
            with open(table) as lines:
                next(lines, None)  # the names of the columns
                for columns in map(str.split, lines):
                    if columns[3] == LISTEN:
                        yield columns[9], int(columns[1].rpartition(":")[2], 16)
        except OSError:
            continue  # not Linux, or no IPv6
