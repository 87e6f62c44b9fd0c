"""Arrival: a client's connection was accepted, and only its addresses are known.

    class Faults(Plugin):
        def accepted(self, arrival: Arrival) -> Decision:
            return Disconnect("broker 2 is down", How.RESET) if arrival.broker_id == 2 else None

Rules:
* Plugins are asked in the order of the configuration, before TLS and before a broker is dialled. To a client that is
  refused here, the broker looks as if it were down.
* The first plugin that decides to `Disconnect` decides for all. A plugin that raises ends the connection.
* A plugin may take steps first: `Sleep`, `Wait`, `Call` and `TURN`. There is no broker yet that could be asked.
* Who the client is becomes known later: `Plugin.connected` and the handlers learn it.
* `Plugin.not_served` is told once of a connection that ends before it is served: refused by a limit or a plugin,
  without TLS, without a broker, or ended by the proxy. Observers are told no other event of it. `not_served` decides
  nothing, and must cost little: a stranger can cause as many such connections as there are ports to come from.
"""

from __future__ import annotations

from dataclasses import dataclass

from proxy.core.tls import Tls


@dataclass(frozen=True, slots=True)
class Arrival:
    """A connection that was accepted.

    `broker_id` is None at the bootstrap port, and if brokers are told apart by host name, which TLS brings later.
    """

    client: tuple[str, int]
    listener: str
    cluster: str
    broker_id: int | None


@dataclass(frozen=True, slots=True)
class NotServed:
    """A connection that ended before it was served: why, and what its TLS handshake had found out by then."""

    arrival: Arrival
    why: str
    tls: Tls | None = None
    principal: str | None = None
