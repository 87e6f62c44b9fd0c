"""The queue between the relay and the writer's thread. Putting an event into it never blocks and never fails.

Rules:
* One thread puts, one takes. An event that finds room takes no lock.
* The queue is bounded by the number of events, of the resources in them, and the length of their texts, which clients
  choose. An event that finds it full is lost and counted. An `events_lost` takes its place in the queue and in the
  journal, and counts the events lost after it too.
* Events that are still to be made have room of their own. What they are made of was counted in the memory budget while
  their requests were under way, and is counted until they are made (`held`). While the disk takes nothing they have
  no more room than the others.
* Events of requests that were not read (`told.py`) are kept in one entry while nothing else is put between them.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from plugins.audit.shared import SharedFields
from plugins.audit.told import ToldEvents, ToldTraffic, told_events

ROOM = 50_000  # events, and resources in them: about 30 MB
DEFERRED = 10 * ROOM  # of those that are still to be made: all requests that one connection may have in flight
SIZE = 400  # bytes of the data from which one resource is made
NUMBERS = 64  # bytes of the numbers of one resource


class QueuedEvent(NamedTuple):
    """An event in the queue. `at` is in seconds since 1970, `weight` the room that it takes, in plain events."""

    kind: str
    at: float
    shared: SharedFields | None
    fields: Mapping[str, Any]
    weight: int = 1


class DeferredEvent(NamedTuple):
    """An event that the writer's thread makes, since that takes long. `make` gives None if none is to be written."""

    at: float
    weight: int
    make: Callable[[], QueuedEvent | None]


class Loss:
    """Events that found no room since the writer took the last such entry."""

    def __init__(self, at: float) -> None:
        self.count = 0
        self.since = self.until = at
        self._lock = threading.Lock()
        self._taken = False

    def add(self, at: float) -> bool:
        """Count one more. False: it is too late, the writer has this entry."""
        with self._lock:
            if self._taken:
                return False
            self.count += 1
            self.since, self.until = min(self.since, at), max(self.until, at)
            return True

    def take(self) -> None:
        """Close the entry: the writer has it."""
        with self._lock:
            self._taken = True


QueueEntry: TypeAlias = QueuedEvent | DeferredEvent | ToldEvents | Loss


def events_in(entry: QueueEntry) -> int:
    """The number of lines that are made of an entry."""
    return 1 if isinstance(entry, QueuedEvent | DeferredEvent | Loss) else len(entry)


class EventQueue:
    """Events in the order in which they were put."""

    def __init__(self, room: int = ROOM, deferred: int = DEFERRED) -> None:
        self._room = room
        self._deferred_room = deferred
        self._entries: deque[QueueEntry] = deque()
        self._came = 0  # the weight of all that was put; written by the thread that puts
        self._went = 0  # the weight of all that was taken; written by the thread that takes
        self._deferred_came = self._deferred_went = 0  # the same of events that are still to be made
        self.queued = self.lost = 0  # the numbers of events that found room, and of those that did not
        self._loss: Loss | None = None  # the newest entry, if it is one; the writer may have taken it
        self._told: ToldEvents | None = None  # the newest entry, if it may take one more event

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def events(self) -> int:
        """The number of events that wait."""
        return sum(map(events_in, tuple(self._entries)))

    @property
    def held(self) -> int:
        """Bytes of the data from which events are still to be made."""
        return SIZE * (self._deferred_came - self._deferred_went)

    def put(self, event: QueuedEvent | DeferredEvent, is_stuck: bool = False) -> bool:
        """Put an event. `is_stuck`: the disk takes nothing. False: it is lost."""
        if isinstance(event, DeferredEvent):
            waiting = self._deferred_came - self._deferred_went
            room = self._room if is_stuck else self._deferred_room
        else:
            waiting, room = self._came - self._went, self._room
        if waiting + event.weight > room and self._entries:
            self._lose(event.at)
            return False
        if isinstance(event, DeferredEvent):
            self._deferred_came += event.weight
        else:
            self._came += event.weight
        self.queued += 1
        self._entries.append(event)
        self._told = self._loss = None
        return True

    def tell(self, at: float, traffic: ToldTraffic, numbers: bytes) -> bool:
        """Put the event of a request that was not read, with the numbers found in it. False: it is lost."""
        weight, shared = traffic.weight + len(numbers) // NUMBERS, traffic.shared
        if self._came - self._went + weight > self._room and self._entries:
            self._lose(at)
            return False
        told = self._told
        if told is None or not told.add(at, weight, shared, traffic.begins, traffic.heads, numbers):
            told = told_events()
            told.add(at, weight, shared, traffic.begins, traffic.heads, numbers)
            self._entries.append(told)
            self._told, self._loss = told, None
        self._came += weight
        self.queued += 1
        return True

    def _lose(self, at: float) -> None:
        self.lost += 1
        if self._loss is None or not self._loss.add(at):
            self._loss = Loss(at)
            self._loss.add(at)
            self._entries.append(self._loss)
            self._told = None

    def take(self) -> QueueEntry | None:
        """The oldest entry; None: there is none."""
        try:
            entry = self._entries.popleft()
        except IndexError:
            return None
        if isinstance(entry, Loss):
            entry.take()
            return entry
        if isinstance(entry, DeferredEvent):
            self._deferred_went += entry.weight
            return entry
        if not isinstance(entry, QueuedEvent):
            entry.close()
        self._went += entry.weight
        return entry
