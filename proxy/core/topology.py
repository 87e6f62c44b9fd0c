"""Topology: the brokers of one cluster, with their real addresses and those that clients are told.

Rules:
* A node id has the same advertised address for as long as the process lives, whatever happens to the broker. If its
  port cannot be opened, clients are told an address at which nobody listens.
* A broker is announced (`appeared`) before any client is told of it, so that its port is open when the first client
  comes.
* What is said on a connection from before the cluster was reached in another way moves no broker: there the brokers
  still name the ports that clients were brought to before, or they are those of another cluster.
* An unusable address is never learned, nor a broker beyond the limit. Clients are told an address at which nobody
  listens, never the one that was given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from proxy.core.addresses import unusable

NOWHERE = 0  # nobody listens on port 0
MOST = 1_000  # the largest clusters have some hundreds


class Endpoint(NamedTuple):
    """The host and port of a listener."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class ReachedBy:
    """The way in which a cluster is reached: its bootstrap addresses, `via`, TLS and SASL. Connections share it.

    `is_former`: a configuration came since by which the cluster is reached in another way.
    """

    __slots__ = ("is_former",)

    def __init__(self) -> None:
        self.is_former = False


class Broker(NamedTuple):
    """One broker: its node id, its real address, and the address that clients are told."""

    node_id: int
    real: Endpoint
    advertised: Endpoint


class RefusedBroker(NamedTuple):
    """A broker that was not learned: it is `over` the limit of brokers, or its address is unusable."""

    node_id: int
    why: str
    over: bool = False


class Topology:
    """The known brokers, at most `most`. `advertise` gives the address for a node id; the others hear of changes."""

    def __init__(
        self,
        advertise: Callable[[int], Endpoint],
        appeared: Callable[[Broker], None] = lambda broker: None,
        moved: Callable[[Broker], None] = lambda broker: None,
        refused: Callable[[RefusedBroker], None] = lambda refused: None,
        most: int = MOST,
    ) -> None:
        self._advertise = advertise
        self._appeared = appeared
        self._moved = moved
        self._refused = refused
        self.most = most
        self.brokers: dict[int, Broker] = {}
        self.edition = object()  # another object whenever `learn` may have another outcome, or refused a broker

    def learn(self, node_id: int, host: str, port: int, *, moves: bool = True) -> Endpoint:
        """A broker was seen at this address. Returns the address that clients are told instead.

        Without `moves`, a broker that is known stays where it is.
        """
        real = Endpoint(host, port)
        known = self.brokers.get(node_id)
        if known is not None and (known.real == real or not moves):
            return known.advertised
        return self._learn(node_id, real, known)

    def _learn(self, node_id: int, real: Endpoint, known: Broker | None) -> Endpoint:
        """A broker is new, or elsewhere than it was."""
        self.edition = object()
        refused = self._objection(node_id, real, known)
        if refused is not None:
            self._refused(refused)
            return known.advertised if known else Endpoint(self._advertise(max(node_id, 0)).host, NOWHERE)
        self.brokers[node_id] = broker = Broker(node_id, real, self._advertise(node_id))
        (self._moved if known else self._appeared)(broker)
        return self.brokers[node_id].advertised

    def _objection(self, node_id: int, real: Endpoint, known: Broker | None) -> RefusedBroker | None:
        if known is None and len(self.brokers) >= self.most:
            return RefusedBroker(node_id, f"broker {node_id} is one more than {self.most} (limits.brokers)", over=True)
        why = unusable(node_id, *real)
        return RefusedBroker(node_id, why) if why else None

    def forget(self, node_id: int) -> None:
        """This broker is gone. When it comes back it is announced again."""
        self.edition = object()
        del self.brokers[node_id]

    def readvertise(self, node_id: int) -> None:
        """The port of this broker opened, or could not be opened."""
        self.edition = object()
        self.brokers[node_id] = self.brokers[node_id]._replace(advertised=self._advertise(node_id))

    def place(self, node_id: int | None) -> Endpoint:
        """The advertised address of this node id, even if no broker has it and nobody listens there. None: of no id."""
        if node_id is None or node_id < 0:
            return Endpoint(self._advertise(0).host, NOWHERE)
        return self._advertise(node_id)
