"""Windows: requests that are recorded together, in one event for a window of time, a connection and an API.

Rules:
* The counts of a window are exact (`window_counts.py`).
* A window begins with its first request. It is written when it is over, when its connection ends, and when the journal
  ends. If the client's identity changes, or other rules decide, another window begins. A process that is killed loses
  its open windows.
* The thread of the links counts, and the writer's thread takes what is due. Each holds a lock for a moment.
* Memory is bounded by the number of resources and the length of texts, which clients choose. A request that finds no
  room is recorded in full. A window that is as large as one line of the journal may be is over.
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

MOST = 50_000  # partitions and other resources of all windows; a text of PLAIN bytes counts as one more
SET_BACK = 1.0  # seconds; a window that begins later than now by more began before the clock was set back: it is over
HEAVY = 20  # so many of them weigh as much as one event in the queue

DescribeCounted = Callable[[Counted], Resource]  # the fields of a resource that do not depend on the partition


class WindowKey(NamedTuple):
    """The connection, client, API and version of a window."""

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
        describe: DescribeCounted,
    ) -> bool:
        """Count a request that ended at `at`, in seconds since 1970. False: there is no room."""
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
        """The tally of this window, in which requests are counted unread; None: the window is not open any more.

        None too if a new window of the same key does not count these resources.
        """
        with self._lock:
            window = self._open.get(key.connection, {}).get(key)
            if window is None or not all(name in window.counts for name in counted):
                return None
            if window.tally is None:
                window.tally = make()
            return window.tally

    def _take_in(self, window: Window, new: list[Counted], describe: DescribeCounted) -> bool:
        """Add resources to a window. False: it has no room for them."""
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
        """The summaries that are over at `now`, in seconds since 1970, or counted for `longest` seconds."""
        with self._lock:
            found = [
                (key, one)
                for windows in self._open.values()
                for key, one in windows.items()
                if now >= one.until or not one.since - SET_BACK <= now < one.since + longest
            ]
            for key, window in found:
                del self._open[key.connection][key]
                if not self._open[key.connection]:
                    del self._open[key.connection]
                self._size -= window.weight
        return [_event(key, window) for key, window in found]

    def of(self, connection: int) -> list[QueuedEvent]:
        """The summaries of a connection that ends."""
        with self._lock:
            windows = self._open.pop(connection, {})
            self._size -= sum(window.weight for window in windows.values())
        return [_event(key, window) for key, window in windows.items()]


def _event(key: WindowKey, window: Window) -> QueuedEvent:
    fields = window.fields(key.api, key.version)
    weight = 1 + len(window.counts) // HEAVY + window.named // PLAIN + key.party.weight
    return QueuedEvent("summary", window.last, key.party, fields, weight)
