"""The rules of a file, kept while it changes: a new snapshot when it is right, the old one when it is not.

# A file that is bad, or gone, changes nothing; it is told once, until the file changes again.
# Whoever asks holds a snapshot for as long as the question lasts: what is in force changes in one step.
# Looking at the file is safe in a thread, where it belongs: a file that somebody is writing is waited for.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path

from proxy.text.problems import Problem
from proxy.text.stamp import Stamp, settled, stamp
from rules.load import examine, load
from rules.snapshot import Snapshot


class WatchedFile:
    """A file of rules. `snapshot` is in force. Raises RulesError where the file is bad to begin with."""

    def __init__(self, file: str | os.PathLike[str], environment: Mapping[str, str] = os.environ) -> None:
        self.file = Path(file)
        self.environment = environment
        self._looking = threading.Lock()
        self._stamp = stamp(self.file)
        self._untold: list[Problem] | None = None
        self.snapshot: Snapshot = load(file, environment)
        self._said = self._stamp  # of the file when it said the snapshot; `_stamp` is that of a bad one too

    def refresh(self) -> list[Problem] | None:
        """Take the file as it is now: its problems and warnings, or None if it has not changed since the last time."""
        self.look()
        problems, self._untold = self._untold, None
        return problems

    def look(self) -> Snapshot:
        """Take the file as it is now, and leave it to the next `refresh` to tell what is wrong with it."""
        with self._looking:
            if stamp(self.file) != self._stamp:
                now = settled(self.file)
                snapshot, self._untold = examine(self.file, self.environment)
                self._stamp = now  # not before: where there is no descriptor left to read it, it is read later
                if snapshot is not None:
                    self.snapshot, self._said = snapshot, now
            return self.snapshot

    def said(self, at: Stamp | None) -> Snapshot | None:
        """What the file with this stamp says, if that is known already."""
        with self._looking:
            return self.snapshot if at == self._said else None

    def take(self, snapshot: Snapshot, written: Stamp) -> None:
        """Put in force what was just written to the file, whose stamp this then is. The next `refresh` tells of it."""
        with self._looking:
            self._untold = []
            self.snapshot, self._stamp, self._said = snapshot, written, written
