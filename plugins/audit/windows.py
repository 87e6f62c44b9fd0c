"""Windows: requests that are told together: one event for a window of time, a connection and an API.

Rules:
* What is counted in one is exact (`window_counts.py`).
* A window begins with its first request. It is written when it is over, when its connection ends, when the client turns
  out to be somebody else, and when the journal ends. A process that is killed loses what it counted since.
* The thread of the links counts, the writer's thread takes what is due: a lock is held for a moment by either.
* What is counted is bounded: by resources, and by how long the texts are, which clients choose. What finds no room is
  told in full. A window that has as much as one line of the journal can say is over.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from plugins.audit.moved import Counted, PartitionTraffic
from plugins.audit.queue import QueuedEvent
from plugins.audit.request_schema import Resource
from plugins.audit.shared import PLAIN, SharedFields, text_bytes
from plugins.audit.window_counts import ResourceCount, Window
from proxy.plugin import Api, Outcome
from proxy.plugin.frames import CompiledTally

MOST = 50_000  # partitions and other resources, of all windows; a text of PLAIN bytes counts as one more
HEAVY = 20  # so many of them are one event in the queue's account

Described = Callable[[Counted], Resource]  # what is said of a resource, whatever the partition


class WindowKey(NamedTuple):
    """Whose window it is, and of what."""

    connection: int
    party: SharedFields
    api: Api
    version: int


class Windows:
    """All windows of one journal."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[int, dict[WindowKey, Window]] = {}  # by connections
        self._size = 0

    def count(
        self,
        key: WindowKey,
        at: float,
        seconds: float,
        outcome: Outcome,
        moved: Sequence[tuple[Counted, PartitionTraffic]],
        describe: Described,
    ) -> bool:
        """One more request, which ended at `at` seconds since 1970. False: there is no room."""
        with self._lock:
            if self._size >= MOST:
                return False
            windows = self._open.get(key.connection)
            if windows is None:
                windows = self._open[key.connection] = {}
            window = windows.get(key)
            if window is None:
                window = windows[key] = Window(at, at + seconds)
                window.weight = 1 + key.party.weight
                self._size += window.weight
            counts = window.counts
            new = [name for name, _ in moved if name not in counts]
            if new and not self._take_in(window, new, describe):
                window.until = at
                return False
            window.add(at, outcome)
            for name, one in moved:
                counts[name].add(one)
        return True

    def tally(
        self, key: WindowKey, make: Callable[[], CompiledTally], counted: Sequence[Counted]
    ) -> CompiledTally | None:
        """The tally of this window, in which requests are counted unread; None: it is not open any more.

        Where the writer's thread began another since, which does not count these resources, it is not either.
        """
        with self._lock:
            window = self._open.get(key.connection, {}).get(key)
            if window is None or not all(name in window.counts for name in counted):
                return None
            if window.tally is None:
                window.tally = make()
            return window.tally

    def _take_in(self, window: Window, new: list[Counted], describe: Described) -> bool:
        """Count these resources too from now on. False: the window has no room for them."""
        named = sum([text_bytes(name[1]) for name in new if isinstance(name[1], str)])
        if window.is_full_with(len(new), named):
            return False
        for name in new:
            window.counts[name] = ResourceCount(describe(name))
        weight = len(new) + named // PLAIN
        window.named += named
        window.weight += weight
        self._size += weight
        return True

    def due(self, now: float, longest: float = math.inf) -> list[QueuedEvent]:
        """The windows that are over at `now`, in seconds since 1970. None counts for more than `longest` seconds."""
        with self._lock:
            found = [
                (key, one)
                for windows in self._open.values()
                for key, one in windows.items()
                if now >= one.until or now >= one.since + longest
            ]
            for key, window in found:
                del self._open[key.connection][key]
                if not self._open[key.connection]:
                    del self._open[key.connection]
                self._size -= window.weight
        return [_event(key, window) for key, window in found]

    def of(self, connection: int) -> list[QueuedEvent]:
        """Those of a connection, which ends, or whose client is somebody else from now on."""
        with self._lock:
            windows = self._open.pop(connection, {})
            self._size -= sum(window.weight for window in windows.values())
        return [_event(key, window) for key, window in windows.items()]


def _event(key: WindowKey, window: Window) -> QueuedEvent:
    fields = window.fields(key.api, key.version)
    weight = 1 + len(window.counts) // HEAVY + window.named // PLAIN + key.party.weight
    return QueuedEvent("summary", window.last, key.party, fields, weight)
