"""Context: what a handler may know about the frame in front of it and the connection that it came on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proxy.core.tls import Tls
from proxy.core.topology import Endpoint, Topology
from proxy.protocol.api import Api

if TYPE_CHECKING:
    from proxy.core.gate import Gate

DECODED = 8  # a message takes about so many times the bytes that it was read from


@dataclass(slots=True, eq=False)
class Connection:
    """One client connection. What is learned on the way (client id, software) is None until then."""

    client: tuple[str, int]
    listener: str
    cluster: str
    topology: Topology
    broker_id: int | None = None  # None on the bootstrap port
    gate: Gate = field(init=False)  # the link's own
    tls: Tls | None = None
    principal: str | None = None  # as Kafka writes it: "User:alice"; None also where only the broker knows
    mechanism: str | None = None  # of SASL, once the client is authenticated
    taken_for: str | None = None  # as whom the broker takes it, where the proxy speaks for it; "": nobody knows
    delegation: str | None = None  # the id of the delegation token that it came with, instead of as itself
    client_id: str | None = None
    software_name: str | None = None
    software_version: str | None = None
    broker_versions: Mapping[int, tuple[int, int]] = field(default_factory=dict)  # api key -> lowest, highest
    notes: dict[Any, Any] = field(default_factory=dict)  # for plugins: what they keep of this connection

    def facts(self) -> dict[str, object]:
        """What is known, for a line in the log."""
        host, port = self.client
        software = " ".join(filter(None, (self.software_name, self.software_version))) or None
        told = {
            "client": str(Endpoint(host, port)),
            "listener": self.listener,
            "broker": self.broker_id,
            "tls": self.tls and str(self.tls),
            "subject": self.tls and self.tls.subject,
            "principal": self.principal,
            "mechanism": self.mechanism,
            "delegation": self.delegation,
            "software": software,
        }
        return {name: value for name, value in told.items() if value is not None}


@dataclass(slots=True, eq=False)
class Context:
    """One request and its answer. `notes` is for a plugin that sees both."""

    connection: Connection
    api: Api
    version: int
    correlation_id: int
    notes: dict[Any, Any] = field(default_factory=dict)
    size: int = 0  # bytes of the request

    @property
    def held(self) -> int:
        """Bytes that plugins keep of the request for its answer, at a guess."""
        return self.size * DECODED if self.notes else 0

    @property
    def client_id(self) -> str | None:
        """What the client calls itself, as far as it was read."""
        return self.connection.client_id

    @property
    def topology(self) -> Topology:
        """The brokers of this cluster."""
        return self.connection.topology
