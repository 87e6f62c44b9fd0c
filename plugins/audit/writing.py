"""Writing: the work of the writer's thread, which brings events from the queue to the disk.

Rules:
* Lines are made of the events in the queue, in their order, and then of the summaries that are due. A frame has one MiB
  of lines, or little more.
* The next segment begins before the events are written, unless they waited for long, as for a full disk: then they are
  written where those of their time are, so that they are found by their time.
* If the segment that is being written is deleted or moved, the next one begins at once, and the log says how many
  events are gone. The events that were being written at that moment are written again.
* An event that cannot be made, or cannot be written as a line, is lost, and blocks no other. The log says so,
  `unwritten` gets the number, and an `events_lost` takes its place.
* The event of a large request takes tens of milliseconds to make: it is made here (`DeferredEvent`).
* An error of the disk is raised as OSError, and the operation can be tried again. So is the beginning of the chain.
* A chain that begins late has the time at which it was to begin. So no event is older than its segment.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable

from plugins.audit.chain import Chain
from plugins.audit.queue import DeferredEvent, EventQueue, Loss, QueuedEvent, events_in
from plugins.audit.told import ToldEvents
from proxy.plugin import LineWriter, give_way

FRAME = 1 << 20  # bytes of lines in one frame, or little more
LATE = 60.0  # seconds after which events that waited may be of another time than the next segment
BREATH = 32  # entries, or resources of one, made at once, before the relay's thread gets the interpreter


class JournalWriting:
    """Writes the entries of `queue`, and the summaries that are `due`, to the chain that `begin` gives.

    One thread at a time calls it.
    """

    def __init__(
        self,
        begin: Callable[[], Chain],
        queue: EventQueue,
        tell: LineWriter,
        wall: Callable[[], float],
        due: Callable[[float], Iterable[QueuedEvent]],
        unwritten: Callable[[int], object],
    ) -> None:
        self._begin = begin
        self._chain: Chain
        self._queue = queue
        self._tell = tell
        self._wall = wall
        self._due = due
        self._unwritten = unwritten
        self._flushed = threading.Condition()
        self._over: deque[QueuedEvent] = deque()  # summaries to write
        self._newest: list[QueuedEvent | ToldEvents | Loss] = []  # entries of the last frame, until it is on disk
        self._emptied = wall()  # when all that the queue had was written last
        self._taken = 0  # how many events of the queue are lines
        self.on_disk = 0  # and how many are on disk
        self.is_begun = False  # whether there is a chain

    def wait(self, events: int, seconds: float) -> None:
        """Wait until this number of events is on disk, at most for this time. Called by any thread."""
        with self._flushed:
            self._flushed.wait_for(lambda: self.on_disk >= events, seconds)

    def begin(self) -> None:
        """Begin the chain, unless it is begun. Raises KeyFileError, OSError."""
        if not self.is_begun:
            self._chain = self._begin()
            self.is_begun = True

    def write(self, now: float) -> None:
        """Write all entries of the queue, and the summaries that are over now.

        Raises OSError, also where only the next segment cannot be begun; KeyFileError if the chain is not begun yet.
        """
        self.begin()
        self._flush()
        self._take_due(now)
        began = self._wall()
        is_late = bool(self._queue) and began - self._emptied > LATE
        refused = None if is_late else self._rotate(bool(self._queue or self._over))
        while self._queue:
            self._fill(self._take)
            self._flush()
        self._emptied = began
        self._take_due(now)  # including requests that were counted only now
        if is_late:
            refused = self._rotate(bool(self._over))
        while self._over:
            self._fill(self._take_summary)
            self._flush()
        refused = refused or self._rotate(False)
        if refused:
            raise refused

    def end(self) -> None:
        """Write the last event, and seal the chain's last segment. Raises OSError."""
        self._chain.end()

    def abandon(self) -> int:
        """Give up. Returns the number of events that are not written."""
        lost = self._queue.events
        if self.is_begun:
            lost += len(self._over) + self._chain.waiting
            self._chain.abandon()
        return lost

    def _take_due(self, now: float) -> None:
        self._over += [event._replace(at=min(now, self._wall())) for event in self._due(now)]

    def _flush(self) -> None:
        if not self._chain.is_gone:
            self._chain.flush()
        while self._chain.is_gone:
            self._replace()
        self._chain.copy_written()
        self._newest = []
        with self._flushed:
            self.on_disk = self._taken
            self._flushed.notify_all()

    def _replace(self) -> None:
        """Begin another segment, since the one that was being written is gone."""
        gone = self._chain.segment
        lost = self._chain.replace(sum(map(events_in, self._newest)))
        self._tell("audit segment deleted or moved while it was written", level="error", segment=str(gone), events=lost)
        for entry in self._newest:
            self._chain.add(entry)
        self._chain.flush()

    def _fill(self, take: Callable[[], QueuedEvent | ToldEvents | Loss | None]) -> None:
        """Make lines of some entries, for one frame."""
        size = 0
        while size < FRAME and (entry := take()) is not None:
            try:
                size += self._chain.add(entry)
            except Exception as error:
                entry = self._lost(error, events_in(entry), entry.at if isinstance(entry, QueuedEvent) else math.inf)
                size += self._chain.add(entry)
            self._newest.append(entry)
            is_long = isinstance(entry, QueuedEvent) and entry.weight > BREATH
            if is_long or len(self._newest) % BREATH == 0:
                give_way()

    def _take(self) -> QueuedEvent | ToldEvents | Loss | None:
        while True:
            entry = self._queue.take()
            if entry is None or isinstance(entry, Loss):
                return entry
            self._taken += events_in(entry)
            if not isinstance(entry, DeferredEvent):
                return entry
            if (made := self._made(entry)) is not None:
                return made

    def _made(self, entry: DeferredEvent) -> QueuedEvent | Loss | None:
        """The event that is made, or a Loss if making it fails."""
        try:
            return entry.make()
        except Exception as error:
            return self._lost(error, 1, entry.at)

    def _lost(self, error: Exception, events: int, at: float) -> Loss:
        """The entry in the place of events that cannot be written. They happened at `at`, if that is a valid time."""
        self._unwritten(events)
        self._tell("audit event not written", level="error", error=type(error).__name__, events=events)
        now = self._wall()
        at = at if 0.0 <= at <= now else now
        loss = Loss(at)
        for _ in range(events):
            loss.add(at)
        return loss

    def _take_summary(self) -> QueuedEvent | None:
        return self._over.popleft() if self._over else None

    def _rotate(self, more: bool) -> OSError | None:
        """Begin another segment if it is time. If that fails, the present one stays open."""
        try:
            self._chain.rotate(more)
        except OSError as error:
            return error
        return None
