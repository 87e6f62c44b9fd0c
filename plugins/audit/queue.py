"""The queue between the relay and the writer's thread: whoever puts an event into it never waits and gets no error.

Rules:
* One thread puts, one takes; nothing is locked on the way of an event that finds room.
* The queue is bounded, by events, the resources in them and how long their texts are, which clients choose. An event
  that finds it full is lost: it is counted, and an `events_lost` stands in the queue, and so in the journal, where it
  and those lost after it would have stood.
* What many events say alike is kept once (`SharedFields`), and its JSON is made once, by the thread that writes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from functools import cached_property
from sys import getsizeof
from typing import Any, NamedTuple, Protocol

from pydantic_core import to_json

ROOM = 50_000  # events, and resources in them: about 30 MB
PLAIN = 400  # bytes of text that count as one more


def text_bytes(text: str | None) -> int:
    """Bytes that the characters of a text take."""
    return getsizeof(text) - getsizeof("") if text else 0


class SharedFields:
    """Fields that many events have: who a client is. They do not change any more."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields
        self.weight = sum(text_bytes(value) for value in fields.values() if isinstance(value, str)) // PLAIN

    @cached_property
    def json(self) -> bytes:
        """The fields as they stand in a line, without the braces."""
        return to_json(self.fields)[1:-1]

    @cached_property
    def text(self) -> str:
        """The same as a text."""
        return self.json.decode()


class QueuedEvent(NamedTuple):
    """One event on its way. `at` is in seconds since 1970, `weight` how much room it takes, in plain events."""

    kind: str
    at: float
    shared: SharedFields | None
    fields: Mapping[str, Any]
    weight: int = 1


class DeferredEvent(NamedTuple):
    """An event that takes long to make: the writer's thread makes it. None: it is counted elsewhere, or not told."""

    at: float
    weight: int
    make: Callable[[], QueuedEvent | None]


class LateEvent(Protocol):
    """An event of which the JSON is made by who writes it: until then it costs who puts it next to nothing."""

    @property
    def kind(self) -> str: ...
    @property
    def at(self) -> float: ...
    @property
    def shared(self) -> SharedFields: ...
    @property
    def weight(self) -> int: ...
    def said(self) -> str: ...
    def made(self) -> QueuedEvent: ...


class Loss:
    """Events that found no room, since the writer took the last such entry."""

    def __init__(self, at: float) -> None:
        self.count = 0
        self.since = self.until = at
        self._lock = threading.Lock()
        self._taken = False

    def add(self, at: float) -> bool:
        """One more; False: it is too late, this entry is with the writer."""
        with self._lock:
            if self._taken:
                return False
            self.count += 1
            self.since, self.until = min(self.since, at), max(self.until, at)
            return True

    def take(self) -> None:
        """It is complete."""
        with self._lock:
            self._taken = True


class EventQueue:
    """Events in the order in which they were put."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._entries: deque[QueuedEvent | DeferredEvent | LateEvent | Loss] = deque()
        self._came = 0  # of what was put, by weight; written by who puts
        self._went = 0  # the same of what was taken; written by who takes
        self._loss: Loss | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, event: QueuedEvent | DeferredEvent | LateEvent) -> bool:
        """Let this event be written. False: it is lost."""
        if self._came - self._went + event.weight > self._room and self._entries:
            self._lose(event.at)
            return False
        self._came += event.weight
        self._entries.append(event)
        return True

    def _lose(self, at: float) -> None:
        if self._loss is None or self._loss is not self._entries[-1] or not self._loss.add(at):
            self._loss = Loss(at)
            self._loss.add(at)
            self._entries.append(self._loss)

    def take(self) -> QueuedEvent | DeferredEvent | LateEvent | Loss | None:
        """The oldest entry; None: there is none."""
        try:
            entry = self._entries.popleft()
        except IndexError:
            return None
        if isinstance(entry, Loss):
            entry.take()
        else:
            self._went += entry.weight
        return entry
