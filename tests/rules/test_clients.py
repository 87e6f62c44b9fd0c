"""The client of a connection."""

from __future__ import annotations

from proxy.core.context import Connection
from proxy.core.tls import Tls
from proxy.core.topology import Endpoint, Topology
from rules import Client
from rules.clients import client_of


def test_a_client_is_said_in_the_words_of_the_rules() -> None:
    topology = Topology(lambda node: Endpoint("proxy", 9193 + node))
    connection = Connection(("::ffff:10.1.2.3", 5), "clients", "main", topology)
    connection.principal, connection.mechanism, connection.client_id = "User:alice", "PLAIN", "app"
    connection.tls = Tls("TLSv1.3", "x")
    assert client_of(connection) == Client(
        "User:alice", host="10.1.2.3", client_id="app", listener="clients", mechanism="PLAIN", tls=True
    )
    connection.principal = None
    assert client_of(connection) is None, "only the broker knows"
    connection.mechanism = connection.tls = connection.client_id = None
    anonymous = client_of(connection)
    assert anonymous is not None
    assert (anonymous.principal, anonymous.mechanism, anonymous.client_id) == ("User:ANONYMOUS", "", "")
