"""The journal: events in, signed segments out.

    journal = Journal(folder, key_file, instance, worker, tell, clock)
    journal.open()
    journal.put("request", at, fields, party)
    journal.work()              # again and again, in a thread
    journal.close()

Rules:
* `put` costs a microsecond or two and never waits. Its arguments must not change afterwards.
* An event that was put is on disk after the next `work`, or as soon as the disk takes it.
* While the disk is full or the folder cannot be written, events stay in the queue, and the disk is tried once a second.
  An event that finds the queue full is lost; an `events_lost` records it as soon as the journal is written again.
* The log says why a journal cannot be written, and again whenever the reason is another one.
* A journal that cannot be opened is an error at once, unless the caller lets one that its disk refuses begin later.
* A caller that must wait until an event is on disk calls `hurry`, and then compares `on_disk`. One write covers all
  events that were put before it began.
* Only one thread may call `put`. Any thread may call the other methods: one at a time writes (`writing.py`).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.beginning import begun, may_pass
from plugins.audit.chain import Chain, Copy, no_copy
from plugins.audit.keyfile import KeyFileError
from plugins.audit.queue import ROOM, DeferredEvent, EventQueue, QueuedEvent
from plugins.audit.redacted import Redactor
from plugins.audit.rotation import Rotation
from plugins.audit.shared import SharedFields
from plugins.audit.writing import JournalWriting
from proxy.plugin import LineWriter, PluginClock

AGAIN = 1.0  # seconds until a disk that refused is tried again
LONGER = 10  # times as long as a try to begin took: to look through the journal of a year takes seconds


class JournalError(Exception):
    """A journal cannot be begun. The text has a place, a fact, and a way out."""


class Journal:
    """A journal in `folder`, written by one process.

    `due` gives the summaries that are over at a moment, `window` the longest time for which they count, in seconds.
    `copy` gets lines that are on disk. `unwritten` counts events that could not be made into lines, `refused` counts
    writes that the disk refused.
    """

    def __init__(
        self,
        folder: Path,
        key_file: Path,
        instance: str,
        worker: int,
        tell: LineWriter,
        clock: PluginClock,
        rotation: Rotation | None = None,
        room: int = ROOM,
        due: Callable[[float], Iterable[QueuedEvent]] = lambda now: (),
        window: Callable[[], float] = lambda: 0.0,
        copy: Copy = no_copy,
        unwritten: Callable[[int], object] = lambda events: None,
        refused: Callable[[int], object] = lambda writes: None,
    ) -> None:
        self._folder, self._key_file = folder, key_file
        self._instance, self._worker = instance, worker
        self._tell = tell
        self._rotation = rotation or Rotation()
        self._clock = clock
        self._queue = EventQueue(room)
        self._due, self._window, self._copy = due, window, copy
        self._unwritten, self._refused = unwritten, refused
        self._again_at: float | None = None  # when the disk that refused a write is tried again
        self._why: str | None = None  # the reason of the last refusal, which was told
        self._one_writes = threading.Lock()
        self._wanted = threading.Event()
        self.tell = self._queue.tell  # as `hand_over`, for the event of a request that was not read
        self._writing: JournalWriting

    def open(self, redactor: Callable[[], Redactor | None] = lambda: None, *, may_wait: bool = False) -> None:
        """Seal segments that a killed writer left, and begin a chain. Raises JournalError.

        `redactor` gives the redactor of all events; it may raise KeyFileError and OSError. `may_wait`: if the disk
        refuses the journal now, events wait, and `work` begins it later.
        """
        now, began = self._clock.wall(), self._clock.read()
        folder, instance, worker, wall = self._folder, self._instance, self._worker, self._clock.wall
        rotation, window, copy = self._rotation, self._window, self._copy

        def chain(key: Ed25519PrivateKey, others: dict[str, str]) -> Chain:
            return Chain(folder, instance, worker, key, wall, rotation, others, window, redactor(), copy, now)

        begin = partial(begun, folder, self._key_file, self._tell, chain)
        self._writing = JournalWriting(begin, self._queue, self._tell, wall, self._due, self._unwritten)
        try:
            self._writing.begin()
        except KeyFileError as error:
            raise JournalError(str(error)) from None
        except OSError as error:
            if not (may_wait and may_pass(error)):
                place = error.filename or folder
                raise JournalError(f"{place}: the journal cannot be written ({error.strerror}); {_REMEDY}") from None
            self._refuse(error, began)

    def put(
        self, kind: str, at: float, fields: Mapping[str, Any], shared: SharedFields | None = None, weight: int = 1
    ) -> bool:
        """Queue an event that happened at `at`, in seconds since 1970. Called by one thread.

        `weight`: the room that it takes, in plain events, without its shared fields. False: it is lost.
        """
        if shared is not None:
            weight += shared.weight
        return self.hand_over(QueuedEvent(kind, at, shared, fields, weight))

    def hand_over(self, event: QueuedEvent | DeferredEvent) -> bool:
        """Queue an event that is made already, or that the writer will make."""
        return self._queue.put(event, self.is_refused)

    @property
    def held(self) -> int:
        """Bytes of the data from which events are still to be made."""
        return self._queue.held

    @property
    def events(self) -> int:
        """The number of events that were put and found room."""
        return self._queue.queued

    @property
    def lost(self) -> int:
        """The number of events that found no room."""
        return self._queue.lost

    @property
    def is_refused(self) -> bool:
        """Whether the disk refused the last write."""
        return self._again_at is not None

    @property
    def on_disk(self) -> int:
        """The number of events that are on disk, counted in the order in which they were put."""
        return self._writing.on_disk

    def hurry(self) -> None:
        """Have the events that were put written at once, since a client waits."""
        self._wanted.set()

    def wait(self, events: int, seconds: float) -> None:
        """Wait until this number of events is on disk, and at most for this time."""
        self._writing.wait(events, seconds)

    def work_when_wanted(self, seconds: float) -> None:
        """Work as soon as `hurry` is called, or else after this time."""
        self._wanted.wait(seconds)
        self._wanted.clear()
        self.work()

    def work(self) -> None:
        """Write the events that were put, and begin another segment where it is time."""
        with self._one_writes:
            if self._again_at is None or self._clock.read() >= self._again_at:
                self._done(lambda: self._writing.write(self._clock.wall()))

    def close(self) -> None:
        """Write all events, and seal the last segment."""
        with self._one_writes:
            writing = self._writing
            if not (self._done(lambda: writing.write(math.inf)) and self._done(writing.end)):
                self._tell("audit events lost at the end", level="error", events=writing.abandon())

    def _done(self, work: Callable[[], None]) -> bool:
        began = self._clock.read()
        try:
            work()
        except (OSError, KeyFileError) as error:
            self._refuse(error, began)
            return False
        if self._again_at is not None:
            self._again_at = self._why = None
            self._tell("audit journal is written again")
        return True

    def _refuse(self, error: OSError | KeyFileError, began: float) -> None:
        self._refused(1)
        place, why = self._folder, str(error)
        if isinstance(error, OSError):
            place, why = error.filename or self._folder, f"{error.strerror}; {_REMEDY}"
        if why != self._why:  # a line for each try would bury it
            self._why = why
            self._tell("audit journal cannot be written", level="error", place=str(place), why=why)
        now = self._clock.read()
        self._again_at = now + (AGAIN if self._writing.is_begun else max(AGAIN, LONGER * (now - began)))


_REMEDY = "make room, or give the proxy the right to write there"
