"""Arrival: a client that was accepted, and of which nothing is known but where it came from and to.

    class Faults(Plugin):
        def accepted(self, arrival: Arrival) -> Decision:
            return Disconnect("broker 2 is down", How.RESET) if arrival.broker_id == 2 else None

Rules:
* Plugins are asked in the order of the configuration, before TLS and before a broker is dialled. To a client, a broker
  that refuses it there looks like one that is down.
* The first that decides to `Disconnect` decides for all. One that raises ends the connection.
* A plugin may take steps first: `Sleep`, `Wait`, `Call` and `TURN`. There is no broker yet that could be asked.
* Who the client is becomes known later: `Plugin.connected` and the handlers learn it.
* Of a connection that ends before it is served, `Plugin.not_served` is told once, and of no other event: refused by a
  limit or a plugin, without TLS, without a broker, or ended by the proxy. It decides nothing, and costs little: a
  stranger can cause as many as there are ports to come from.
"""

from __future__ import annotations

from dataclasses import dataclass

from proxy.core.tls import Tls


@dataclass(frozen=True, slots=True)
class Arrival:
    """A connection that was accepted.

    `broker_id` is None at the bootstrap port, and where brokers are told apart by host name: TLS brings that later.
    """

    client: tuple[str, int]
    listener: str
    cluster: str
    broker_id: int | None


@dataclass(frozen=True, slots=True)
class NotServed:
    """A connection that ended before it was served: why, and what a handshake of TLS had found out by then."""

    arrival: Arrival
    why: str
    tls: Tls | None = None
    principal: str | None = None
