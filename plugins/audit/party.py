"""The party: who a client is, as far as is known at this moment, made once for all events that say the same."""

from __future__ import annotations

from typing import Any

from plugins.audit.journal import Journal
from plugins.audit.queue import SharedFields
from plugins.audit.schema import Party
from proxy.plugin import Connection


class KnownParty:
    """What is known of one connection. `number` counts the connections that this journal tells of."""

    def __init__(self, journal: Journal, number: int) -> None:
        self.journal = journal
        self.asked: set[bytes] = set()  # topics whose names were asked for by their ids
        self._number = number
        self._made_of: tuple[Any, ...] = ()
        self._shared = SharedFields({})

    def of(self, connection: Connection) -> SharedFields:
        """The party as it is now."""
        made_of = (
            connection.principal,
            connection.client_id,
            connection.software_name,
            connection.software_version,
            connection.mechanism,
            connection.delegation,
        )
        if made_of != self._made_of:
            self._made_of = made_of
            self._shared = SharedFields(_party(self._number, connection))
        return self._shared


def _party(number: int, connection: Connection) -> Party:
    party: Party = {
        "connection": number,
        "cluster": connection.cluster,
        "listener": connection.listener,
        "client_host": connection.client[0],
        "client_port": connection.client[1],
    }
    if connection.broker_id is not None:
        party["broker"] = connection.broker_id
    if connection.principal is not None:
        party["principal"] = connection.principal
    if connection.mechanism is not None:
        party["mechanism"] = connection.mechanism
    if connection.delegation is not None:
        party["delegation"] = connection.delegation
    if connection.tls is not None:
        party["tls"] = str(connection.tls)
        if connection.tls.subject is not None:
            party["tls_subject"] = connection.tls.subject
    if connection.client_id is not None:
        party["client_id"] = connection.client_id
    if connection.software_name is not None:
        party["client_software"] = " ".join(filter(None, (connection.software_name, connection.software_version)))
    return party
