"""Not served: connections that ended before they had a link. Each is recorded or counted, however many there are.

Rules:
* Connections are alike if they have the same client address, principal, listener, broker and reason. The first has an
  event of its own. Later ones within a window are counted exactly, and recorded together when the window is over.
* The number of open windows is bounded. Connections that find no room are counted together for each listener, without
  a client.
* The thread of the links counts, and the writer's thread takes what is due. Each holds a lock for a moment.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from plugins.audit.lines import timestamp
from plugins.audit.party import with_tls
from plugins.audit.queue import QueuedEvent
from plugins.audit.schema import Party
from plugins.audit.shared import SharedFields
from plugins.audit.windows import SET_BACK
from proxy.plugin import NotServed

WINDOW = 10.0  # seconds
MOST = 100  # windows that are open
LONGEST = 500  # characters of a reason
OTHERS = f"more than {MOST} kinds of connections ended before they were served; these are the others"


class _Alike(NamedTuple):
    """The properties shared by connections that are counted together. `host` None: any."""

    listener: str
    cluster: str
    host: str | None
    broker: int | None
    why: str
    principal: str | None = None


class _Counted:
    def __init__(self, at: float, *, is_told: bool) -> None:
        self.begun = self.last = at
        self.first: float | None = None  # the time of the first that was counted
        self.count = 0
        if not is_told:
            self.add(at)

    def add(self, at: float) -> None:
        self.count += 1
        self.first = at if self.first is None else self.first
        self.last = at


class NotServedWindows:
    """The windows of one journal."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[_Alike, _Counted] = {}
        self.window = 0.0  # seconds for which connections may be counted before they are recorded

    def count(self, ended: NotServed, at: float) -> QueuedEvent | None:
        """Take in a connection that ended at `at`, in seconds since 1970. Returns its event; None: it is counted."""
        arrival, why = ended.arrival, ended.why[:LONGEST]
        alike = _Alike(arrival.listener, arrival.cluster, arrival.client[0], arrival.broker_id, why, ended.principal)
        with self._lock:
            found = self._open.get(alike)
            if found is None and len(self._open) < MOST:
                self._open[alike] = _Counted(at, is_told=True)
                party: Party = {**_party(alike), "client_port": arrival.client[1]}
                shared = SharedFields(with_tls(party, ended.tls))
                return QueuedEvent("connection_failed", at, shared, {"why": why, "connections": 1})
            self.window = WINDOW
            if found is None:
                alike = _Alike(arrival.listener, arrival.cluster, None, None, OTHERS)
                found = self._open.get(alike)
            if found is None:
                self._open[alike] = _Counted(at, is_told=False)
            else:
                found.add(at)
        return None

    def due(self, now: float) -> list[QueuedEvent]:
        """The events of windows that are over at `now`, in seconds since 1970."""
        with self._lock:
            over = [
                alike
                for alike, counted in self._open.items()
                if not counted.begun - SET_BACK <= now < counted.begun + WINDOW
            ]
            found = [(alike, self._open.pop(alike)) for alike in over]
        return [_event(alike, counted) for alike, counted in found if counted.count]


def _party(alike: _Alike) -> Party:
    party: Party = {"cluster": alike.cluster, "listener": alike.listener}
    if alike.host is not None:
        party["client_host"] = alike.host
    if alike.broker is not None:
        party["broker"] = alike.broker
    if alike.principal is not None:
        party["principal"] = alike.principal
    return party


def _event(alike: _Alike, counted: _Counted) -> QueuedEvent:
    fields: dict[str, Any] = {"why": alike.why, "connections": counted.count}
    fields["window_from"] = timestamp(counted.begun if counted.first is None else counted.first)
    fields["window_to"] = timestamp(counted.last)
    return QueuedEvent("connection_failed", counted.last, SharedFields(_party(alike)), fields)
