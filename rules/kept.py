"""The rules of a file, kept while it changes: a new snapshot when it is right, the old one when it is not.

# A file that is bad, or gone, changes nothing; it is told once, until the file changes again.
# Whoever asks holds a snapshot for as long as the question lasts: what is in force changes in one step.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from proxy.text.problems import Problem
from rules.load import examine, load
from rules.snapshot import Snapshot

Stamp = tuple[int, ...]


class Kept:
    """A file of rules. `snapshot` is in force. Raises RulesError where the file is bad to begin with."""

    def __init__(self, file: str | os.PathLike[str], environment: Mapping[str, str] = os.environ) -> None:
        self.file = Path(file)
        self.environment = environment
        self._stamp = self._look()
        self.snapshot: Snapshot = load(file, environment)

    def refresh(self) -> list[Problem] | None:
        """Take the file as it is now: its problems and warnings, or None if it has not changed since the last time."""
        stamp = self._look()
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        snapshot, problems = examine(self.file, self.environment)
        if snapshot is not None:
            self.snapshot = snapshot
        return problems

    def _look(self) -> Stamp | None:
        """What changes when the file does; it is taken before the file is read, so that no change is missed."""
        try:
            found = self.file.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
