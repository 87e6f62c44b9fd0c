"""Connection faults: which faults may be about requests of one connection, before anything is read of these.

# That is the same for all requests of one API and version, as long as the faults in force are the same, and the client.
# Whether a fault is in its hours, and what a request is about, is asked of each.
# A fetch session goes on where each of its requests was looked at, by the same faults, and none named what one of them
# is about. Of a connection the last one is known.
"""

from __future__ import annotations

from collections.abc import Sequence

from plugins.faults.fault_set import NamedFault
from plugins.faults.in_force import FaultsInForce
from proxy.plugin import Connection, Context, FetchRequest
from rules.clients import client_as, client_of
from rules.match import RequestFacts


class UnmeantSession:
    """A fetch session that none of these faults is about. Which it is its second request says; None: there is none."""

    def __init__(self, faults: Sequence[NamedFault] | None = None) -> None:
        self._faults = faults
        self._id: int | None = None

    @property
    def is_known(self) -> bool:
        """Did it go on with a second request?"""
        return self._id is not None

    def goes_on(self, faults: Sequence[NamedFault], request: FetchRequest) -> bool:
        """Is this the next request of it, by the same faults?"""
        if self._faults != faults:
            return False
        if self._id is None and request.session_epoch == 1:
            self._id = request.session_id
        return self._id == request.session_id


class ConnectionFaults:
    """Those of one connection. `holds` tells when others must be made."""

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

    def holds(self) -> bool:
        """Are the faults the same, and does the client come as the same?"""
        connection = self._connection
        return (
            self._overlay.value is self._taken
            and self._client_id == connection.client_id
            and self._principal == connection.principal
            and self._mechanism == connection.mechanism
        )

    def of(self, ctx: Context) -> tuple[NamedFault, ...]:
        """Those that may be about requests of this API in this version, in order."""
        key = ctx.api.key << 16 | ctx.version
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._find(ctx)
        return found

    def _find(self, ctx: Context) -> tuple[NamedFault, ...]:
        connection = self._connection
        who = client_of(connection) or client_as(connection, "")  # that only the broker knows: no principal matches it
        return self._in_force.of_request(RequestFacts(ctx.api, ctx.version, who, connection.broker_id), ctx)


def faults_of(connection: Connection, key: str, in_force: FaultsInForce) -> ConnectionFaults:
    """Those of a connection as they are now, which are kept in its notes under this key."""
    found: ConnectionFaults | None = connection.notes.get(key)
    if found is None or not found.holds():
        found = connection.notes[key] = ConnectionFaults(connection, in_force)
    return found
