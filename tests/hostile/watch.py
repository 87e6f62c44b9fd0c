"""Watching a process from outside, by Linux's /proc: its memory, descriptors, children and log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIB = 1 << 20
TEXT = 4096


@dataclass(frozen=True)
class Reading:
    """One reading, summed over a process and its children; sizes are in bytes."""

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
        """Read the current values."""
        memory = peak = descriptors = 0
        for pid in self.pids():
            with suppress(OSError):  # the process ended meanwhile
                memory += _status(pid, "VmRSS")
                peak += _status(pid, "VmHWM")
                descriptors += len(list(Path(f"/proc/{pid}/fd").iterdir()))
        return Reading(memory, peak, descriptors, self.log_size())

    def forget_peak(self) -> None:
        """Reset the peak to the current memory."""
        for pid in self.pids():
            with suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")

    def log_size(self) -> int:
        return self.log.stat().st_size if self.log.is_file() else 0

    def lines(self, start: int = 0) -> Iterator[dict[str, Any]]:
        """The lines of the log from this byte on. Raises ValueError for a line that is not JSON."""
        with self.log.open("rb") as file:
            file.seek(start)
            for line in file:
                if line.endswith(b"\n"):
                    yield json.loads(line)

    def text(self, start: int) -> str:
        """What was logged from this byte on; of a long text, its first `TEXT` bytes."""
        if not self.log.is_file():
            return ""
        with self.log.open("rb") as file:
            file.seek(start)
            return file.read(TEXT).decode(errors="replace")


def _status(pid: int, key: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) << 10
    return 0
