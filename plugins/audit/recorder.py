"""The recorder: hands events to the journal, each with its client's party.

Rules:
* An event is handed over without waiting. An event that finds no room is counted in the journal itself, and in the
  metric `lost_events`.
* A connection gets a number with its first event, and keeps it until it is forgotten. Each instance of the plugin has
  its own knowledge of a connection.
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
from rules.noted import DecidingRules

LOST = "Events that the journal could not take."


class EventRecorder:
    """The recorder of one journal. `parties` has what is known of each connection."""

    def __init__(self, journal: Journal, services: Services, levels: WatchedFile[LevelsFile] | None) -> None:
        self._journal = journal
        self._services = services
        self._levels = levels
        self._connections = 0
        self._lost = services.counter("lost_events", LOST)
        self.parties: dict[Connection, KnownParty] = {}

    def known(self, connection: Connection) -> KnownParty:
        """What is known of this connection; begins to know it if it is new."""
        known = self.parties.get(connection)
        if known is None:
            self._connections += 1
            known = self.parties[connection] = KnownParty(self._connections, self._services, self._levels)
        return known

    def forget(self, connection: Connection) -> None:
        """Forget a connection that ended, and of which everything is recorded."""
        del self.parties[connection]

    def forget_all(self) -> None:
        """Record all that waits, and forget connections: they go on under another configuration."""
        for known in tuple(self.parties.values()):
            known.learner.give_up()
            known.tallies.clear()
        self.parties.clear()

    def put(
        self,
        kind: str,
        connection: Connection,
        fields: Said,
        weight: int = 1,
        at: float | None = None,
        rules: DecidingRules | None = None,
    ) -> None:
        """Record an event of a connection. `at`: seconds since 1970; None: now. `rules`: those that decided on it."""
        party = self.known(connection).of(connection, rules)
        at = self._services.clock.wall() if at is None else at
        if not self._journal.put(kind, at, fields, party, weight):
            self._lost.add()

    def keep(self, event: QueuedEvent | DeferredEvent) -> None:
        """Record an event that is made already, or will be."""
        if not self._journal.hand_over(event):
            self._lost.add()

    def tell(self, at: float, traffic: ToldTraffic, numbers: bytes) -> None:
        """Record a request that was not read."""
        if not self._journal.tell(at, traffic, numbers):
            self._lost.add()
