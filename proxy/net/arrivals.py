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
from typing import TYPE_CHECKING

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
from proxy.net.budget import TLS
from proxy.net.dial import UnreachableError
from proxy.net.exposure import Exposure
from proxy.net.listeners import Listener
from proxy.net.newcomer import Newcomer
from proxy.net.reaching import Reaching
from proxy.net.tls.handshake import HandshakeError, SilentError
from proxy.net.upstream import Upstream
from proxy.net.worker_parts import WorkerParts

if TYPE_CHECKING:  # its import takes 10 MB, so only where there are certificates
    from proxy.net.tls.clients import Welcomed

log = structlog.get_logger()


class Arrivals:
    """The clients of one listener, on their way to a broker of its cluster. If it is shut, they are closed."""

    def __init__(
        self,
        listener: Listener,
        exposure: Exposure,
        upstream: Callable[[], Upstream],
        worker: WorkerParts,
    ) -> None:
        self._port = listener
        self._listener = listener.name
        self._cluster = exposure.cluster
        self._topology = exposure.topologies[listener.name]
        self._reaching = Reaching(self._topology, exposure.waiting[listener.name])
        self._upstream = upstream
        self._worker = worker

    def accepted(self, client: socket.socket, peer: tuple[str, int], broker_id: int | None) -> None:
        """A client connected to the port of a broker, or (None) to the bootstrap port."""
        worker = self._worker
        here, counters, most = worker.snapshot.listeners[self._listener], worker.counters, worker.limits.connections
        if counters.open >= most:
            client.close()
            counters.over_connections += 1
            why = f"{most} are open (limits.connections)"
            self._complain("connection refused", None, peer, why)
            self._not_served(here.filters, peer, broker_id, why)
            return
        counters.accepted += 1
        counters.open += 1
        worker.reactor.expect()
        self._port.acceptor.serve_beside(self._arrive, client, Newcomer(client, peer, broker_id, here))

    def _complain(self, event: str, about: Hashable, peer: tuple[str, int], why: str, **facts: object) -> None:
        here = {"client": str(Endpoint(*peer)), "listener": self._listener}
        self._worker.complaints.tell(log.warning, event, (self._listener, about), why, why=why, **facts, **here)

    async def _arrive(self, client: socket.socket, newcomer: Newcomer) -> None:
        with self._worker.tasks.contained("bringing a client to a broker", listener=self._listener):
            try:
                await self._connect(client, newcomer)
            finally:
                if not newcomer.is_served:
                    self._give_up(newcomer)

    def _give_up(self, newcomer: Newcomer) -> None:
        """Close it, since it gets no link."""
        try:
            self._not_served(newcomer.here.filters, newcomer.peer, newcomer.broker_id, newcomer.why, newcomer.welcomed)
        finally:
            self._worker.counters.open -= 1
            newcomer.close()
            if newcomer.here.tls is not None:
                self._worker.reactor.budget.spare.freed(TLS)

    async def _connect(self, client: socket.socket, newcomer: Newcomer) -> None:
        """Bring it to a broker. If it gets no link, `newcomer.why` says why."""
        upstream, counters = self._upstream(), self._worker.counters
        here, peer, welcomed = newcomer.here, newcomer.peer, None
        try:
            if here.filters.accepted:
                refusal = await self._refusal(client, newcomer)
                if refusal is not None:
                    newcomer.why = refusal
                    return
            if here.tls is not None:
                welcomed = await here.tls.welcome(client, newcomer.broker_id, self._worker.limits)
                newcomer.welcomed, newcomer.client, newcomer.broker_id = welcomed, welcomed.socket, welcomed.broker_id
            principal, seconds = None if welcomed is None else welcomed.principal, self._worker.limits.dial
            later = here.log_in_later
            newcomer.broker, logged_in = await self._reaching.reach(
                upstream, newcomer.client, newcomer.broker_id, principal, seconds, later=later
            )
        except UnreachableError as error:
            newcomer.why = f"broker unreachable: {error}"
            counters.failed_dial += not error.stalled
            counters.slow_dial += error.stalled
            upstream.ask_again()
            self._complain("broker unreachable", newcomer.broker_id, peer, str(error), broker=newcomer.broker_id)
            return
        except SilentError as error:
            newcomer.why = f"no TLS: {error}"
            return
        except HandshakeError as error:
            newcomer.why = f"no TLS: {error}"
            counters.slow_handshake += error.limit == "handshake"
            counters.over_handshakes += error.limit == "handshakes"
            counters.failed_handshakes += error.limit is None
            self._complain("no TLS", peer[0], peer, str(error))
            return
        if self._port.is_shut:
            return
        connection = Connection(
            peer, self._listener, self._cluster, self._topology, newcomer.broker_id, reached_by=upstream.reached_by
        )
        if welcomed is not None:
            connection.tls, connection.principal = welcomed.facts, welcomed.principal
            connection.taken_for = "" if welcomed.principal else None
        if logged_in is not None:
            connection.taken_for = logged_in.identity.principal
        serve(self._worker, connection, here.filters.plugins[0], newcomer, logged_in)

    async def _refusal(self, client: socket.socket, newcomer: Newcomer) -> str | None:
        """Why plugins do not let this client come; None: all let it."""
        peer, broker_id = newcomer.peer, newcomer.broker_id
        arrival = Arrival(peer, self._listener, self._cluster, broker_id)
        self._worker.reactor.clock.now = trio.current_time()  # no link wakes up where nobody is let in
        steps = caught(arrival_steps(newcomer.here.filters.accepted, arrival))
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
