"""Clients: who is at the end of a connection, in the words of the rules."""

from __future__ import annotations

from proxy.core.context import Connection
from rules.conditions import Client
from rules.hosts import java_text

ANONYMOUS = "User:ANONYMOUS"


def client_of(connection: Connection) -> Client | None:
    """Who asks; None where only the broker knows."""
    if connection.principal is None and connection.mechanism is not None:
        return None
    return client_as(connection, connection.principal or ANONYMOUS)


def client_as(connection: Connection, principal: str) -> Client:
    """A client that comes as this principal, with all else that is known of it."""
    return Client(
        principal,
        host=java_text(connection.client[0]),
        client_id=connection.client_id or "",
        listener=connection.listener,
        mechanism=connection.mechanism or "",
        tls=connection.tls is not None,
    )
