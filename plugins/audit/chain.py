"""One writer's chain of segments: what the writer's thread does with the disk.

Rules:
* An event has its sequence once it is a line. Lines that could not be written wait, and are written first: a disk
  that was full leaves no gap.
* A segment is followed by the next one before it is sealed. So the last one of a chain is where its writer stopped or
  was killed; if neither is so, what followed was cut off.
* A segment ends when it is large or old enough, or its hour is over. One in which nothing happened goes on. It ends too
  where summaries count for longer from now on than its first event says.
* A segment that somebody deletes or moves while it is written is sealed as it was, so that it is missed. The next one
  goes on behind its last event.
* Whatever the disk refuses is raised as OSError and can be tried again.
* `copy` is given all lines once they are on disk, in their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.lines import EventLines
from plugins.audit.queue import Loss, QueuedEvent
from plugins.audit.redacted import Redactor
from plugins.audit.seals import Seal, SegmentEnd, seal
from plugins.audit.segments import OpenSegment, SegmentName
from plugins.audit.told import ToldEvents

HOUR = 3600
Copy = Callable[[Sequence[bytes]], object]


def no_copy(lines: Sequence[bytes]) -> None:
    """They are in the journal alone."""


@dataclass(frozen=True)
class Rotation:
    """When a segment ends: at so many bytes on disk, or so many seconds after it began."""

    size: int = 16 << 20
    age: float = 900.0


@dataclass
class _Current:
    file: OpenSegment
    first: int
    begun: float
    window: float


class Chain:
    """The segments of one writer. `wall` gives seconds since 1970, `window` for how many seconds summaries count."""

    def __init__(
        self,
        journal: Path,
        instance: str,
        worker: int,
        key: Ed25519PrivateKey,
        wall: Callable[[], float],
        rotation: Rotation,
        others: dict[str, str],
        window: Callable[[], float] = lambda: 0.0,
        redactor: Redactor | None = None,
        copy: Copy = no_copy,
    ) -> None:
        self._journal = journal
        self._instance = instance
        self._worker = worker
        self._key = key
        self._wall = wall
        self._rotation = rotation
        self._others = others
        self._window = window
        self._redactor = redactor
        self._lines = EventLines(instance, worker, *([] if redactor is None else [redactor]))
        self._copy = copy
        self._waiting: list[bytes] = []
        self._number = 0
        self._newest: str | None = None  # the hash of the newest seal
        self._unsealed: deque[_Current] = deque()
        self._current = self._opened()

    def add(self, entry: QueuedEvent | ToldEvents | Loss) -> int:
        """Make an entry's lines. Gives how many bytes they have; `flush` writes them."""
        lines = self._lines.lines(entry)
        self._waiting += lines
        return sum(map(len, lines))

    def flush(self) -> None:
        """Write all lines. Raises OSError."""
        if self._waiting:
            self._current.file.write(self._waiting)
            self._copy(self._waiting)
            self._waiting = []

    @property
    def waiting(self) -> int:
        """How many lines are not written."""
        return len(self._waiting)

    @property
    def segment(self) -> Path:
        """Where the segment is that is written."""
        return self._current.file.path

    @property
    def is_gone(self) -> bool:
        """Is the segment that is written no longer where it was begun? Raises OSError."""
        return not self._current.file.is_there

    def replace(self, newest: int) -> int:
        """Go on in another segment, since the one that is written is gone. Gives how many events are lost with it.

        `newest`: so many entries were added last, which will be added again. They are not lost, and lines that wait are
        forgotten. Raises OSError: then nothing has changed.
        """
        gone, sequence = self._current, self._lines.sequence
        self._lines.sequence = gone.first + gone.file.events - 1
        try:
            self._current = self._opened()
        except OSError:
            self._lines.sequence = sequence
            raise
        self._unsealed.append(gone)
        again = 0 if self._waiting else newest
        self._waiting = []
        return gone.file.events - again

    @property
    def _is_over(self) -> bool:
        """Is the segment old, or its hour over? One in which nothing happened goes on."""
        begun, now = self._current.begun, self._wall()
        is_old = now >= begun + self._rotation.age or now // HOUR != begun // HOUR
        return is_old and self._current.file.events > 1

    def rotate(self, more: bool) -> None:
        """Go on in another segment where it is time, and seal what has ended. `more`: something is to be added now.

        Lines that wait belong into the segment as it is: `flush` comes first. Raises OSError.
        """
        current = self._current
        another_hour = more and self._wall() // HOUR != current.begun // HOUR
        is_too_short = self._window() > current.window
        if current.file.size >= self._rotation.size or self._is_over or another_hour or is_too_short:
            self._current = self._opened()
            self._unsealed.append(current)
        self._seal(SegmentEnd.ROTATED)

    def end(self) -> None:
        """Say that this is the end, and seal it. Raises OSError."""
        self._seal(SegmentEnd.ROTATED)
        self.add(QueuedEvent("journal_closed", self._wall(), None, {}))
        self.flush()
        self._unsealed.append(self._current)
        self._seal(SegmentEnd.STOPPED)

    def abandon(self) -> None:
        """Unlock what could not be sealed: whoever comes next does that."""
        for ended in (*self._unsealed, self._current):
            ended.file.close()

    def _opened(self) -> _Current:
        """The next segment, with its first event. Nothing has changed where it cannot be written."""
        now, window = self._wall(), self._window()
        begin: dict[str, object] = {"segment": self._number + 1, "software": version("doorkeeper")}
        if window:
            begin["window_us"] = round(window * 1e6)
        if self._redactor is not None:
            begin |= self._redactor.said
        line = self._lines.line(QueuedEvent("segment_opened", now, None, begin))
        try:
            file = OpenSegment(self._journal, SegmentName.at(now, self._instance, self._worker, self._number + 1))
            try:
                file.write([line])
            except OSError:
                file.path.unlink()
                file.close()
                raise
        except OSError:
            self._lines.sequence -= 1
            raise
        self._number += 1
        self._copy([line])
        return _Current(file, self._lines.sequence, now, window)

    def _seal(self, end: SegmentEnd) -> None:
        while self._unsealed:
            ended = self._unsealed[0]
            file, others = ended.file, self._others if self._newest is None else {}
            said = Seal(file.name, file.sha256, ended.first, bytes(file.checks), end, self._newest, others)
            self._newest = seal(self._journal, said, self._key)
            file.close()
            self._unsealed.popleft()
