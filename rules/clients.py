"""Clients: the client of a connection, described as the rules see it."""

from __future__ import annotations

from proxy.core.context import Connection
from rules.conditions import Client
from rules.hosts import java_text

ANONYMOUS = "User:ANONYMOUS"


def client_of(connection: Connection) -> Client | None:
    """The client of this connection; None where only the broker knows its principal."""
    if connection.principal is None and connection.mechanism is not None:
        return None
    return client_as(connection, connection.principal or ANONYMOUS)


def client_as(connection: Connection, principal: str) -> Client:
    """The client of this connection as this principal, with everything else that is known of it."""
    return Client(
        principal,
        host=java_text(connection.client[0]),
        client_id=connection.client_id or "",
        listener=connection.listener,
        mechanism=connection.mechanism or "",
        tls=connection.tls is not None,
    )
