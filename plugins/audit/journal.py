"""The journal: events in, signed segments out.

    journal = Journal(folder, key_file, instance, worker, tell)
    journal.open()
    journal.put("request", at, fields, party)
    journal.work()              # again and again, in a thread
    journal.close()

Rules:
* `put` costs a microsecond or two and never waits. What it is given must not change any more.
* What was put is on disk after the next `work`, or as soon as the disk takes it.
* While the disk is full or the folder cannot be written, events stay in the queue and the disk is tried once a second.
  What finds the queue full is lost, and told by an `events_lost` as soon as the journal is written again.
* A journal that cannot be opened at all is an error at once.
* Who cannot go on before an event is on disk says so (`hurry`) and looks again (`on_disk`): one write is for all that
  was put until it began.
* `put` is called by one thread. All else may be called by any: one at a time writes (`writing.py`).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from plugins.audit.chain import Chain, Copy, Rotation, no_copy
from plugins.audit.keyfile import KeyFileError
from plugins.audit.queue import ROOM, DeferredEvent, EventQueue, QueuedEvent
from plugins.audit.recovery import newest_seals, recover
from plugins.audit.redacted import Redactor
from plugins.audit.shared import SharedFields
from plugins.audit.signing import fingerprint, key_text, signing_key
from plugins.audit.writing import JournalWriting
from proxy.plugin import LineWriter

AGAIN = 1.0  # seconds until a disk that refused is tried again


class JournalError(Exception):
    """A journal that cannot be begun: a place, a fact, a way out."""


class Journal:
    """A journal in `folder`, written by one process. `wall` gives seconds since 1970.

    `due` gives the summaries that are over at some moment, `window` for how long they count at most, in seconds. `copy`
    is given lines that are on disk, `unwritten` how many events could not be written, whatever the disk.
    """

    def __init__(
        self,
        folder: Path,
        key_file: Path,
        instance: str,
        worker: int,
        tell: LineWriter,
        rotation: Rotation | None = None,
        wall: Callable[[], float] = time.time,
        room: int = ROOM,
        due: Callable[[float], Iterable[QueuedEvent]] = lambda now: (),
        window: Callable[[], float] = lambda: 0.0,
        copy: Copy = no_copy,
        unwritten: Callable[[int], object] = lambda events: None,
    ) -> None:
        self._folder = folder
        self._key_file = key_file
        self._instance = instance
        self._worker = worker
        self._tell = tell
        self._rotation = rotation or Rotation()
        self._wall = wall
        self._queue = EventQueue(room)
        self._due = due
        self._window = window
        self._copy = copy
        self._unwritten = unwritten
        self._refused_at: float | None = None  # when the disk refused something last
        self._one_writes = threading.Lock()
        self._wanted = threading.Event()
        self.tell = self._queue.tell  # the same as `hand_over`, with an event of a request that nobody read
        self._writing: JournalWriting

    def open(self, redactor: Callable[[], Redactor | None] = lambda: None) -> None:
        """Seal what a killed writer left, and begin a chain. Raises JournalError.

        `redactor` gives what redacts all events; it may raise KeyFileError and OSError.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            key = signing_key(self._key_file)
            for left in recover(self._folder, key):
                self._tell("audit segment of a killed writer sealed", level="warning", segment=str(left))
            others = newest_seals(self._folder)
            chain = Chain(
                self._folder,
                self._instance,
                self._worker,
                key,
                self._wall,
                self._rotation,
                others,
                self._window,
                redactor(),
                self._copy,
            )
        except KeyFileError as error:
            raise JournalError(str(error)) from None
        except OSError as error:
            place = error.filename or self._folder
            raise JournalError(f"{place}: the journal cannot be written ({error.strerror}); {_REMEDY}") from None
        self._writing = JournalWriting(chain, self._queue, self._tell, self._wall, self._due, self._unwritten)
        self._tell("audit journal begun", folder=str(self._folder), key=fingerprint(key_text(key.public_key())))

    def put(
        self, kind: str, at: float, fields: Mapping[str, Any], shared: SharedFields | None = None, weight: int = 1
    ) -> bool:
        """Have an event written that happened at `at`, in seconds since 1970. Called by one thread.

        `weight`: how much room it takes, in plain events, beside what it shares. False: it is lost.
        """
        if shared is not None:
            weight += shared.weight
        return self.hand_over(QueuedEvent(kind, at, shared, fields, weight))

    def hand_over(self, event: QueuedEvent | DeferredEvent) -> bool:
        """The same with an event that is made already, or will be by the writer."""
        return self._queue.put(event)

    @property
    def events(self) -> int:
        """How many were put, and found room."""
        return self._queue.kept

    @property
    def lost(self) -> int:
        """How many found none."""
        return self._queue.lost

    @property
    def is_refused(self) -> bool:
        """Did the disk not take what was to be written last?"""
        return self._refused_at is not None

    @property
    def on_disk(self) -> int:
        """How many of the events that were put are on disk, of those in their order that are."""
        return self._writing.on_disk

    def hurry(self) -> None:
        """Somebody waits for what was put."""
        self._wanted.set()

    def wait(self, events: int, seconds: float) -> None:
        """Wait until so many of the events that were put are on disk, and no longer than so many seconds."""
        self._writing.wait(events, seconds)

    def work_when_wanted(self, seconds: float) -> None:
        """Work as soon as somebody waits for it, or else after so many seconds."""
        self._wanted.wait(seconds)
        self._wanted.clear()
        self.work()

    def work(self) -> None:
        """Write what was put, and cut the journal into segments where it is time."""
        with self._one_writes:
            if self._refused_at is None or time.monotonic() - self._refused_at >= AGAIN:
                self._done(lambda: self._writing.write(self._wall()))

    def close(self) -> None:
        """Write what is there, and seal it."""
        with self._one_writes:
            writing = self._writing
            if not (self._done(lambda: writing.write(math.inf)) and self._done(writing.end)):
                self._tell("audit events lost at the end", level="error", events=writing.abandon())

    def _done(self, work: Callable[[], None]) -> bool:
        try:
            work()
        except OSError as error:
            if self._refused_at is None:
                place = str(error.filename or self._folder)
                why = f"{error.strerror}; {_REMEDY}"
                self._tell("audit journal cannot be written", level="error", place=place, why=why)
            self._refused_at = time.monotonic()
            return False
        if self._refused_at is not None:
            self._refused_at = None
            self._tell("audit journal is written again")
        return True


_REMEDY = "make room, or give the proxy the right to write there"
