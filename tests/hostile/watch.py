"""Watching a process from outside: memory, descriptors, log, and whether it is there at all. Linux's /proc."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIB = 1 << 20


@dataclass(frozen=True)
class Reading:
    """One look; bytes, summed over a process and its children."""

    memory: int
    peak: int  # since `forget_peak`
    descriptors: int
    log: int  # bytes


class Watch:
    """A process with its children, and the file that it logs to."""

    def __init__(self, pid: int, log: Path) -> None:
        self._pid = pid
        self.log = log

    def pids(self) -> list[int]:
        """The process, then its children."""
        children: list[int] = []
        with suppress(OSError):
            for thread in Path(f"/proc/{self._pid}/task").iterdir():
                children += map(int, (thread / "children").read_text().split())
        return [self._pid, *children]

    def look(self) -> Reading:
        """What it takes now."""
        memory = peak = descriptors = 0
        for pid in self.pids():
            with suppress(OSError):  # it ends meanwhile
                memory += _status(pid, "VmRSS")
                peak += _status(pid, "VmHWM")
                descriptors += len(list(Path(f"/proc/{pid}/fd").iterdir()))
        return Reading(memory, peak, descriptors, self.log_size())

    def forget_peak(self) -> None:
        """The peak begins anew."""
        for pid in self.pids():
            with suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")

    def log_size(self) -> int:
        return self.log.stat().st_size if self.log.is_file() else 0

    def lines(self, start: int = 0) -> Iterator[dict[str, Any]]:
        """Its lines from this byte of the log on. Raises ValueError for one that is no JSON."""
        with self.log.open("rb") as file:
            file.seek(start)
            for line in file:
                if line.endswith(b"\n"):
                    yield json.loads(line)


def _status(pid: int, key: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) << 10
    return 0
