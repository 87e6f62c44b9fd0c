"""The recorder: hands events to the journal, each with the party that it is of.

Rules:
* An event is handed over without waiting. One that finds no room is counted: in the journal itself, and in the metric
  `lost_events`.
* A connection has a number from the first event of it on, and keeps it until it is forgotten. What is known of it is
  this plugin's own.
"""

from __future__ import annotations

from plugins.audit.events import Said
from plugins.audit.journal import Journal
from plugins.audit.levels import LevelsFile
from plugins.audit.party import KnownParty
from plugins.audit.queue import DeferredEvent, QueuedEvent
from plugins.audit.told import ToldTraffic
from proxy.plugin import Connection, Services
from proxy.plugin.files import WatchedFile

LOST = "Events that the journal could not take."


class EventRecorder:
    """Of one journal. `parties` has the connections of which something is known."""

    def __init__(self, journal: Journal, services: Services, levels: WatchedFile[LevelsFile] | None) -> None:
        self._journal = journal
        self._services = services
        self._levels = levels
        self._connections = 0
        self._lost = services.counter("lost_events", LOST)
        self.parties: dict[Connection, KnownParty] = {}

    def known(self, connection: Connection) -> KnownParty:
        """What is known of this connection; from now on, if nothing was."""
        known = self.parties.get(connection)
        if known is None:
            self._connections += 1
            known = self.parties[connection] = KnownParty(self._connections, self._services, self._levels)
        return known

    def forget(self, connection: Connection) -> None:
        """The connection is over, and everything is told of it."""
        del self.parties[connection]

    def forget_all(self) -> None:
        """Tell what waits to be told of connections that go on under another configuration."""
        for known in tuple(self.parties.values()):
            known.learner.give_up()
            known.tallies.clear()
        self.parties.clear()

    def put(self, kind: str, connection: Connection, fields: Said, weight: int = 1, at: float | None = None) -> None:
        """Tell of a connection what these fields say. `at`: seconds since 1970, or now."""
        party = self.known(connection).of(connection)
        at = self._services.clock.wall() if at is None else at
        if not self._journal.put(kind, at, fields, party, weight):
            self._lost.add()

    def keep(self, event: QueuedEvent | DeferredEvent) -> None:
        """Tell what this event says."""
        if not self._journal.hand_over(event):
            self._lost.add()

    def tell(self, at: float, traffic: ToldTraffic, numbers: bytes) -> None:
        """Tell of a request that nobody read."""
        if not self._journal.tell(at, traffic, numbers):
            self._lost.add()
