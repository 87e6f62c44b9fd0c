"""Connection events: observers are told what happens to a connection.

    @on_event(Connected, Authenticated, Refused, Closed)
    def told(self, connection: Connection, event: Connected | Authenticated | Refused | Closed) -> None: ...

Rules:
* `Connected` comes first and `Closed` last, each exactly once, whatever ends the connection. When `Closed` is told,
  every request of it has had its outcome.
* The observers of the configuration in force are told. So a plugin of a later configuration may hear of the end of a
  connection whose beginning was told to another instance of it, or to nobody.
* An observer changes nothing. One that raises, or returns something, is counted and reported, and stops nothing.
"""

from __future__ import annotations

from proxy.core.admission import Admission
from proxy.core.events import Closed, Connected, Event, Fact
from proxy.core.failure import FAILURES
from proxy.core.outcome import ObserverReturnedError
from proxy.core.parts import Parts


class ConnectionEvents:
    """Tells of one connection."""

    __slots__ = ("_admission", "_began", "_connection", "_outbox", "_outcomes")

    def __init__(self, parts: Parts, admission: Admission) -> None:
        self._connection = parts.connection
        self._admission = admission
        self._outbox = parts.outbox
        self._outcomes = parts.outcomes
        self._began: float | None = None

    def connected(self) -> None:
        """Both connections are there."""
        self._began = self._outcomes.clock.now
        self._observed(Connected())

    def told(self, event: Event) -> None:
        """Tell an event to `net` too."""
        self._outbox.emit(event)
        self._observed(event)

    def closed(self, reason: str | None, from_client: int, from_broker: int) -> None:
        """Both connections are gone."""
        if self._began is not None:
            began, self._began = self._began, None
            self._observed(Closed(reason, began, self._outcomes.clock.now, from_client, from_broker))

    def _observed(self, event: Fact) -> None:
        for observer in self._admission.filters.events.get(type(event), ()):
            try:
                if (returned := observer(self._connection, event)) is not None:
                    raise ObserverReturnedError(returned)
            except FAILURES as error:
                self._outcomes.failed(observer, None, 0, error)
