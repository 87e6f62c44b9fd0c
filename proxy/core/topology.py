"""Topology: the brokers of one cluster, where they really are, and where their clients are told that they are.

Rules:
* A node id keeps its advertised address for as long as the process lives, whatever becomes of the broker.
* A broker is announced (`appeared`) before anybody is told of it, so that its port is open when the first client comes.
* An id that was never learned is never told: `advertised()` gives None for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Endpoint(NamedTuple):
    """Where somebody listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Broker(NamedTuple):
    """One broker: its node id, where it is, and where clients are told that it is."""

    node_id: int
    real: Endpoint
    advertised: Endpoint


class Topology:
    """The brokers known. `advertise` gives the address for a node id; `appeared` and `moved` are told what changed."""

    def __init__(
        self,
        advertise: Callable[[int], Endpoint],
        appeared: Callable[[Broker], None] = lambda broker: None,
        moved: Callable[[Broker], None] = lambda broker: None,
    ) -> None:
        self._advertise = advertise
        self._appeared = appeared
        self._moved = moved
        self.brokers: dict[int, Broker] = {}

    def learn(self, node_id: int, host: str, port: int) -> Endpoint:
        """A broker was seen at this address. Gives the address that clients are told instead."""
        real = Endpoint(host, port)
        known = self.brokers.get(node_id)
        if known is not None and known.real == real:
            return known.advertised
        advertised = known.advertised if known else self._advertise(node_id)
        broker = self.brokers[node_id] = Broker(node_id, real, advertised)
        (self._moved if known else self._appeared)(broker)
        return advertised

    def place(self, node_id: int) -> Endpoint:
        """The address that stands for this node, also if it is no broker and nobody listens there."""
        return self._advertise(node_id)

    def advertised(self, node_id: int) -> Endpoint | None:
        """What clients are told of this broker; None if it was never seen."""
        broker = self.brokers.get(node_id)
        return broker and broker.advertised

    def real(self, host: str, port: int) -> Endpoint | None:
        """The way back: where the broker really is that clients know under this address."""
        told = Endpoint(host, port)
        return next((broker.real for broker in self.brokers.values() if broker.advertised == told), None)
