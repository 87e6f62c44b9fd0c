"""One writer's chain of segments, written to disk by the writer's thread.

Rules:
* An event gets its sequence number when its line is made. Lines that could not be written wait, and are written first:
  a full disk leaves no gap.
* The next segment is begun before a segment is sealed. So the last segment of a chain is where its writer stopped or
  was killed. If its seal says neither, later segments were cut off.
* The last seal is written before the last event, and gets its name after it. So a writer that ended in order has its
  seal, or the next start gives it its name: no kill and no full disk looks like a seal that was deleted.
* `rotation.py` says when a segment ends.
* A segment that is deleted or moved while it is written is sealed as it was, so that its loss is found. The next one
  begins after its last event.
* An error of the disk is raised as OSError, and the operation can be tried again.
* `copy` gets all lines once they are on disk, in their order, and none that is written again elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.lines import EventLines
from plugins.audit.open_segment import OpenSegment
from plugins.audit.queue import Loss, QueuedEvent
from plugins.audit.redacted import Redactor
from plugins.audit.rotation import Rotation, WrittenSegment
from plugins.audit.seals import SEAL, Seal, SegmentEnd, prepare_seal, put_in_place, seal
from plugins.audit.segments import SegmentName, checks
from plugins.audit.told import ToldEvents

Copy = Callable[[Sequence[bytes]], object]


def no_copy(lines: Sequence[bytes]) -> None:
    """Send no copy: the lines are only in the journal."""


class Chain:
    """The segments of one writer. `wall` gives seconds since 1970, `window` the seconds for which summaries count.

    `begun`: when the first segment was to begin, in seconds since 1970, if the disk did not take it then. None: now.
    """

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
        begun: float | None = None,
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
        self._written: list[bytes] = []  # and not copied yet
        self._number = 0
        self._newest: str | None = None  # the hash of the newest seal
        self._unsealed: deque[WrittenSegment] = deque()
        self._current = self._opened(begun)

    def add(self, entry: QueuedEvent | ToldEvents | Loss) -> int:
        """Make an entry's lines, which `flush` writes. Returns their bytes."""
        lines = self._lines.lines(entry)
        self._waiting += lines
        return sum(map(len, lines))

    def flush(self) -> None:
        """Write all lines. Raises OSError."""
        if self._waiting:
            self._current.file.write(self._waiting)
            self._written += self._waiting
            self._waiting = []

    def copy_written(self) -> None:
        """Send a copy of the lines that were written since the last time. Called where none of them is added again."""
        written, self._written = self._written, []
        if written:
            self._copy(written)

    @property
    def waiting(self) -> int:
        """The number of lines that are not written yet."""
        return len(self._waiting)

    @property
    def segment(self) -> Path:
        """The path of the segment that is being written."""
        return self._current.file.path

    @property
    def is_gone(self) -> bool:
        """Whether the segment that is being written is no longer at its path. Raises OSError."""
        return not self._current.file.is_there

    def replace(self, newest: int) -> int:
        """Begin another segment, since the present one is gone. Returns how many events are lost with it.

        `newest`: the number of entries added last, which the caller will add again. They are not lost, and lines that
        wait or are not copied are dropped. Raises OSError: then nothing has changed.
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
        self._waiting, self._written = [], []
        return gone.file.events - again

    def rotate(self, more: bool) -> None:
        """Begin another segment if it is time, and seal the segments that have ended. `more`: an entry will be added.

        Waiting lines belong into the present segment, so `flush` must come first. Raises OSError.
        """
        current = self._current
        if current.is_over(self._rotation, self._wall(), self._window(), more=more):
            self._current = self._opened()
            self._unsealed.append(current)
        self._seal_ended()

    def end(self) -> None:
        """Write the last event, and seal the chain's last segment. Called once. Raises OSError."""
        self._seal_ended()
        self.add(QueuedEvent("journal_closed", self._wall(), None, {}))
        current, lines = self._current, self._waiting
        file = current.file
        every = bytes(file.checks) + checks(lines)
        prepare_seal(self._journal, self._said(current, SegmentEnd.STOPPED, file.sha256_with(lines), every), self._key)
        self.flush()
        self.copy_written()
        put_in_place(file.path, SEAL)
        file.close()

    def abandon(self) -> None:
        """Unlock the segments that could not be sealed: the next writer recovers them."""
        for ended in (*self._unsealed, self._current):
            ended.file.close()

    def _opened(self, at: float | None = None) -> WrittenSegment:
        """Begin the next segment, with its first event. If it cannot be written, nothing has changed."""
        now, window = self._wall() if at is None else at, self._window()
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
                try:
                    file.path.unlink()
                finally:
                    file.close()
                raise
        except OSError:
            self._lines.sequence -= 1
            raise
        self._number += 1
        self._copy([line])
        return WrittenSegment(file, self._lines.sequence, now, window)

    def _seal_ended(self) -> None:
        while self._unsealed:
            ended = self._unsealed[0]
            file = ended.file
            said = self._said(ended, SegmentEnd.ROTATED, file.sha256, bytes(file.checks))
            self._newest = seal(self._journal, said, self._key)
            self._unsealed.popleft()
            file.close()

    def _said(self, ended: WrittenSegment, end: SegmentEnd, sha256: str, every: bytes) -> Seal:
        """The content of the next seal. `every`: the checks of all events."""
        others = self._others if self._newest is None else {}
        return Seal(ended.file.name, sha256, ended.first, every, end, self._newest, others)
