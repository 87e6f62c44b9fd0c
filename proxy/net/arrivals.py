"""Arrivals: takes every client of one listener from `accept` to a link.

Rules:
* A connection counts from here until both of its sockets are closed. Beyond the limit it is closed at once.
* If a connection ends here, plugins are told why (`Plugin.not_served`), once.
* Plugins are asked before anything else is done for a client (`admitting.py`).
* If no link is made, everything that was opened is closed, and the connection no longer counts. Once there is a link,
  the reactor closes both sockets and reports the end.
* The broker is dialled before a link exists (`reaching.py`). If it refuses, is gone or stalls, the client's connection
  is closed, as by a dead broker, and a line in the log says which of these it was.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Hashable
from contextlib import ExitStack

import structlog
import trio

from proxy.core.arrival import Arrival, NotServed
from proxy.core.context import Connection
from proxy.core.decisions import Disconnect
from proxy.core.failure import raised_at
from proxy.core.filters import Filters
from proxy.core.steps import HandlerError, arrival_steps, caught
from proxy.core.topology import Endpoint
from proxy.net.admitting import admit, tell_not_served
from proxy.net.beginning import serve
from proxy.net.dial import UnreachableError, plain_socket
from proxy.net.exposure import Exposure
from proxy.net.outgoing import AnySocket
from proxy.net.reaching import Reaching
from proxy.net.serving import Worker
from proxy.net.tls.clients import Welcomed
from proxy.net.tls.handshake import HandshakeError
from proxy.net.upstream import Upstream

log = structlog.get_logger()

ENDED = "the proxy ended it before it was served"


class Arrivals:
    """The clients of one listener, on their way to a broker of its cluster."""

    def __init__(
        self,
        listener: str,
        exposure: Exposure,
        upstream: Callable[[], Upstream],
        worker: Worker,
    ) -> None:
        self._listener = listener
        self._cluster = exposure.cluster
        self._topology = exposure.topologies[listener]
        self._reaching = Reaching(self._topology, exposure.waiting[listener])
        self._upstream = upstream
        self._worker = worker
        self._arriving: set[trio.CancelScope] = set()
        self._is_over = False

    def end(self) -> None:
        """The listener is gone: those on their way do not arrive."""
        self._is_over = True
        for scope in self._arriving:
            scope.cancel()

    def accepted(self, client: socket.socket, peer: tuple[str, int], broker_id: int | None) -> None:
        """A client connected to the port of a broker, or (None) to the bootstrap port."""
        worker = self._worker
        if worker.counters.open >= worker.limits.connections:
            client.close()
            worker.counters.over_connections += 1
            most = f"{worker.limits.connections} are open (limits.connections)"
            self._complain("connection refused", None, peer, most)
            self._not_served(worker.snapshot.listeners[self._listener].filters, peer, broker_id, most)
            return
        worker.counters.accepted += 1
        worker.counters.open += 1
        worker.dialling.start_soon(self._arrive, client, peer, broker_id)

    def _complain(self, event: str, about: Hashable, peer: tuple[str, int], why: str, **facts: object) -> None:
        here = {"client": str(Endpoint(*peer)), "listener": self._listener}
        self._worker.complaints.tell(log.warning, event, (self._listener, about), why, why=why, **facts, **here)

    async def _arrive(self, client: socket.socket, peer: tuple[str, int], broker_id: int | None) -> None:
        with (
            self._worker.tasks.contained("bringing a client to a broker", listener=self._listener),
            ExitStack() as given_up,
        ):
            given_up.callback(self._count_no_more)
            given_up.callback(client.close)
            scope = trio.CancelScope()
            self._arriving.add(scope)
            try:
                with scope:
                    await self._connect(client, peer, broker_id, given_up)
            finally:
                self._arriving.remove(scope)

    def _count_no_more(self) -> None:
        self._worker.counters.open -= 1

    async def _connect(
        self, client: socket.socket, peer: tuple[str, int], broker_id: int | None, given_up: ExitStack
    ) -> None:
        """Bring it to a broker. `given_up`: what is done where no link comes of it."""
        introduced = welcomed = None
        shaken: AnySocket = client
        why = ENDED
        # By this a client comes in, whatever is in force meanwhile: part of one and part of another may be neither.
        here, upstream = self._worker.snapshot.listeners[self._listener], self._upstream()
        given_up.callback(lambda: self._not_served(here.filters, peer, broker_id, why, welcomed))
        try:
            if here.filters.accepted:
                refusal = await self._refusal(here.filters, client, peer, broker_id)
                if refusal is not None:
                    why = refusal
                    return
            if here.tls is not None:
                welcomed = await here.tls.welcome(client, broker_id, self._worker.limits)
                shaken, broker_id = welcomed.socket, welcomed.broker_id
                given_up.callback(shaken.close)
            principal, seconds = None if welcomed is None else welcomed.principal, self._worker.limits.dial
            later = here.introduce_later
            stream, introduced = await self._reaching.reach(upstream, broker_id, principal, seconds, later=later)
        except UnreachableError as error:
            why = f"broker unreachable: {error}"
            self._worker.counters.failed_dial += not error.stalled
            self._worker.counters.slow_dial += error.stalled
            upstream.ask_again()
            self._complain("broker unreachable", broker_id, peer, str(error), broker=broker_id)
            return
        except HandshakeError as error:
            why = f"no TLS: {error}"
            self._worker.counters.slow_handshake += error.limit == "handshake"
            self._worker.counters.over_handshakes += error.limit == "handshakes"
            self._worker.counters.failed_handshakes += error.limit is None
            self._complain("no TLS", peer[0], peer, str(error))
            return
        broker = plain_socket(stream)
        given_up.callback(broker.close)
        if self._is_over:
            return
        connection = Connection(peer, self._listener, self._cluster, self._topology, broker_id)
        if welcomed is not None:
            connection.tls, connection.principal = welcomed.facts, welcomed.principal
            connection.taken_for = "" if welcomed.principal else None
        if introduced is not None:
            connection.taken_for = introduced.identity.principal
        serve(self._worker, connection, here.filters.plugins[0], shaken, broker, introduced, given_up)

    async def _refusal(
        self, filters: Filters, client: socket.socket, peer: tuple[str, int], broker_id: int | None
    ) -> str | None:
        """Why plugins do not let this client come; None: all let it."""
        arrival = Arrival(peer, self._listener, self._cluster, broker_id)
        self._worker.reactor.clock.now = trio.current_time()  # no link wakes up where nobody is let in
        steps = caught(arrival_steps(filters.accepted, arrival))
        decision = await admit(client, steps, self._worker.limits.idle)
        if isinstance(decision, Disconnect):
            self._complain("connection refused", broker_id, peer, decision.reason)
            return decision.reason
        if isinstance(decision, HandlerError):
            self._worker.link_counters.failed_handlers += 1
            kind = type(decision.cause).__name__
            self._complain("handler failed", str(decision), peer, f"{decision} failed", error=kind, at=decision.at)
            return f"{decision} failed"
        return None

    def _not_served(
        self,
        filters: Filters,
        peer: tuple[str, int],
        broker_id: int | None,
        why: str,
        welcomed: Welcomed | None = None,
    ) -> None:
        """Tell plugins that this connection ended here."""
        arrival = Arrival(peer, self._listener, self._cluster, broker_id)
        facts = () if welcomed is None else (welcomed.facts, welcomed.principal)
        for name, error in tell_not_served(filters, NotServed(arrival, why, *facts)):
            self._worker.link_counters.failed_observers += 1
            failed = {"error": type(error).__name__, "at": raised_at(error)}
            self._complain("observer failed", name, peer, f"{name} failed", **failed)
