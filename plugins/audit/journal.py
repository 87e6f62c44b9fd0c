"""The journal: events in, signed segments out.

    journal = Journal(folder, key_file, instance, worker, tell)
    journal.open()
    journal.put("request", at, fields, party)
    journal.work()              # again and again, in a thread
    journal.close()

Rules (policy `best_effort`):
* `put` costs a microsecond or two and never waits. What it is given must not change any more.
* What was put is on disk after the next `work`, or as soon as the disk takes it.
* While the disk is full or the folder cannot be written, events stay in the queue and the disk is tried once a second.
  What finds the queue full is lost, and told by an `events_lost` as soon as the journal is written again.
* A journal that cannot be opened at all is an error at once.
* All but `put` is called by one thread at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from plugins.audit.chain import Chain, Rotation
from plugins.audit.queue import ROOM, EventQueue, QueuedEvent, SharedFields
from plugins.audit.recovery import newest_seals, recover
from plugins.audit.signing import KeyFileError, fingerprint, key_text, signing_key
from proxy.plugin import LineWriter

AGAIN = 1.0  # seconds until a disk that refused is tried again
FRAME = 1 << 20  # bytes of lines in one frame, or little more
BREATH = 32  # events after which the writer lets the relay's thread go on, which waits for the same interpreter


class JournalError(Exception):
    """A journal that cannot be begun: a place, a fact, a way out."""


class Journal:
    """A journal in `folder`, written by one process. `wall` gives seconds since 1970."""

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
    ) -> None:
        self._folder = folder
        self._key_file = key_file
        self._instance = instance
        self._worker = worker
        self._tell = tell
        self._rotation = rotation or Rotation()
        self._wall = wall
        self._queue = EventQueue(room)
        self._refused_at: float | None = None  # when the disk refused something last
        self._chain: Chain

    def open(self) -> None:
        """Seal what a killed writer left, and begin a chain. Raises JournalError."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            key = signing_key(self._key_file)
            for left in recover(self._folder, key):
                self._tell("audit segment of a killed writer sealed", level="warning", segment=str(left))
            others = newest_seals(self._folder)
            self._chain = Chain(self._folder, self._instance, self._worker, key, self._wall, self._rotation, others)
        except KeyFileError as error:
            raise JournalError(str(error)) from None
        except OSError as error:
            place = error.filename or self._folder
            raise JournalError(f"{place}: the journal cannot be written ({error.strerror}); {_REMEDY}") from None
        self._tell("audit journal begun", folder=str(self._folder), key=fingerprint(key_text(key.public_key())))

    def put(
        self, kind: str, at: float, fields: Mapping[str, Any], shared: SharedFields | None = None, weight: int = 1
    ) -> bool:
        """Have an event written that happened at `at`, in seconds since 1970. Called by one thread.

        `weight`: how much room it takes, in plain events, beside what it shares. False: it is lost.
        """
        if shared is not None:
            weight += shared.weight
        return self._queue.put(QueuedEvent(kind, at, shared, fields, weight))

    def work(self) -> None:
        """Write what was put, and cut the journal into segments where it is time."""
        if self._refused_at is None or time.monotonic() - self._refused_at >= AGAIN:
            self._done(self._write)

    def close(self) -> None:
        """Write what is there, and seal it."""
        if not (self._done(self._write) and self._done(self._chain.end)):
            lost = len(self._queue) + self._chain.waiting
            self._tell("audit events lost at the end", level="error", events=lost)
            self._chain.abandon()

    def _write(self) -> None:
        """Write all that is in the queue. Raises OSError, also where only the next segment cannot be begun."""
        self._chain.flush()
        refused = self._rotate(bool(self._queue))
        while self._queue:
            self._fill()
            self._chain.flush()
        refused = refused or self._rotate(False)
        if refused:
            raise refused

    def _fill(self) -> None:
        size = count = 0
        while size < FRAME and (entry := self._queue.take()) is not None:
            size += self._chain.add(entry)
            count += 1
            if count % BREATH == 0:
                time.sleep(0)

    def _rotate(self, more: bool) -> OSError | None:
        """A segment that cannot be followed by another one goes on."""
        try:
            self._chain.rotate(more)
        except OSError as error:
            return error
        return None

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
