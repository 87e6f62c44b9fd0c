"""Context: what a handler may know about the frame in front of it and the connection that it came on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proxy.core.topology import Topology
from proxy.protocol.api import Api


@dataclass(slots=True, eq=False)
class Connection:
    """One client connection. What is learned on the way (client id, software) is None until then."""

    client: tuple[str, int]
    listener: str
    cluster: str
    topology: Topology
    broker_id: int | None = None  # None on the bootstrap port
    principal: str | None = None
    client_id: str | None = None
    software_name: str | None = None
    software_version: str | None = None
    broker_versions: Mapping[int, tuple[int, int]] = field(default_factory=dict)  # api key -> lowest, highest


@dataclass(slots=True, eq=False)
class Context:
    """One request and its answer. `notes` is for a plugin that sees both."""

    connection: Connection
    api: Api
    version: int
    correlation_id: int
    notes: dict[Any, Any] = field(default_factory=dict)

    @property
    def client_id(self) -> str | None:
        """What the client calls itself, as far as it was read."""
        return self.connection.client_id

    @property
    def topology(self) -> Topology:
        """The brokers of this cluster."""
        return self.connection.topology
