"""Connection faults: which faults may be about the requests of one connection, known before a request is read.

Rules:
* The answer is the same for all requests of one API and version, while the faults in force and the client are the same.
* The hours of a fault, and the topics and other things in a request, are checked for each request.
* A fetch session may go on if all its requests were checked by the same faults, and none named a thing that one of the
  faults is about. Only the last session of a connection is known.
"""

from __future__ import annotations

from collections.abc import Sequence

from plugins.faults.fault_set import NamedFault
from plugins.faults.in_force import FaultsInForce
from proxy.plugin import Connection, Context, FetchRequest
from rules.clients import client_as, client_of
from rules.match import RequestFacts


class UnmeantSession:
    """A fetch session that none of these faults is about (None: no session). Its second request tells its id.

    It knows neither epochs nor partitions, as `FetchSessions` does: requests of the session pass here unread, and so do
    all answers.
    """

    def __init__(self, faults: Sequence[NamedFault] | None = None) -> None:
        self._faults = faults
        self._id: int | None = None

    def is_known(self, faults: Sequence[NamedFault]) -> bool:
        """Whether its second request has come, so that its id is known, and these faults were checked."""
        return self._id is not None and self._was_checked(faults)

    def goes_on(self, faults: Sequence[NamedFault], request: FetchRequest) -> bool:
        """Whether this is a later request of the session, by the same faults."""
        if not self._was_checked(faults):
            return False
        if self._id is None and request.session_epoch == 1:
            self._id = request.session_id
        return self._id == request.session_id

    def _was_checked(self, faults: Sequence[NamedFault]) -> bool:
        return self._faults is not None and [*self._faults] == [*faults]


class ConnectionFaults:
    """The faults of one connection. They must be made anew when `holds` is false."""

    __slots__ = (
        "_client_id",
        "_connection",
        "_in_force",
        "_known",
        "_mechanism",
        "_overlay",
        "_principal",
        "_taken",
        "session",
    )

    def __init__(self, connection: Connection, in_force: FaultsInForce) -> None:
        self._connection, self._in_force = connection, in_force
        self._overlay, self._taken = in_force.overlay, in_force.overlay.value
        self._principal, self._mechanism = connection.principal, connection.mechanism
        self._client_id = connection.client_id
        self.session = UnmeantSession()
        self._known: dict[int, tuple[NamedFault, ...]] = {}  # by API and version

    def are_of(self, in_force: FaultsInForce) -> bool:
        """Whether these faults are in force, not those of an earlier configuration."""
        return in_force is self._in_force

    def holds(self) -> bool:
        """Whether the faults and the client are still the same."""
        connection = self._connection
        return (
            self._overlay.value is self._taken
            and self._client_id == connection.client_id
            and self._principal == connection.principal
            and self._mechanism == connection.mechanism
        )

    def of(self, ctx: Context) -> tuple[NamedFault, ...]:
        """The faults that may be about requests of this API in this version, in order."""
        key = ctx.api.key << 16 | ctx.version
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._find(ctx)
        return found

    def _find(self, ctx: Context) -> tuple[NamedFault, ...]:
        connection = self._connection
        who = client_of(connection) or client_as(connection, "")  # "": only the broker knows it
        return self._in_force.of_request(RequestFacts(ctx.api, ctx.version, who, connection.broker_id), ctx)


def faults_of(connection: Connection, key: str, in_force: FaultsInForce) -> ConnectionFaults:
    """The present faults of a connection, kept in its notes under this key."""
    found: ConnectionFaults | None = connection.notes.get(key)
    if found is None or not found.are_of(in_force) or not found.holds():
        found = connection.notes[key] = ConnectionFaults(connection, in_force)
    return found
