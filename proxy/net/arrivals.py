"""Arrivals: from `accept` to a link. The way in of every client of one listener.

Rules:
* A connection counts from here until both of its sockets are closed; one over the limit is closed at once.
* Plugins are asked before anything else is done for a client (`admitting.py`).
* The broker is dialled before a link exists. One that refuses, is gone or stalls gives the client what a dead broker
  would, a closed connection, and a line in the log that says which.
* A client that begins at the bootstrap port may be served by any broker: the next one is tried while there is time.
* Where a broker is, any answer may say, and is believed. Where nobody answers there, it is tried where discovery found
  it: an answer may be wrong, and until the next discovery all clients would be sent there.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

import structlog
import trio

from proxy.auth.identity import keep_up
from proxy.config import LimitOptions
from proxy.core.allowance import Allowance
from proxy.core.arrival import Arrival
from proxy.core.context import Connection
from proxy.core.decisions import Disconnect
from proxy.core.filters import Filters
from proxy.core.limits import Counters as LinkCounters
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.core.steps import HandlerError, arrival_steps, caught
from proxy.core.topology import Endpoint
from proxy.net.admitting import admit
from proxy.net.complaints import Complaints
from proxy.net.dial import UnreachableError, plain_socket
from proxy.net.exposure import Exposure
from proxy.net.hosted import PluginHost
from proxy.net.introductions import Introduced
from proxy.net.listeners import Listener
from proxy.net.reactor import Reactor
from proxy.net.side import AnySocket
from proxy.net.snapshot import GatewaySnapshot
from proxy.net.tasks import Tasks
from proxy.net.tls.brokers import TlsStream
from proxy.net.tls.handshake import HandshakeError
from proxy.net.tls.sockets import TlsSocket
from proxy.net.upstream import Upstream
from proxy.telemetry.counters import NetworkCounters

log = structlog.get_logger()

HEARSAY = 1.0  # seconds in which what one worker learned is known to all; one thousandth is usual


@dataclass
class Worker:
    """What all connections of a worker share.

    `mark`: the client id of this proxy; `host`: what plugins share; `listeners`: all that it has.

    `snapshot` is in force: another may be after any await.
    """

    snapshot: GatewaySnapshot
    reactor: Reactor
    tasks: Tasks
    counters: NetworkCounters
    link_counters: LinkCounters
    complaints: Complaints
    mark: str
    host: PluginHost
    allowance: Allowance = field(default_factory=Allowance)
    listeners: list[Listener] = field(default_factory=list)
    dialling: trio.Nursery = field(init=False)

    @property
    def limits(self) -> LimitOptions:
        """Those that are in force."""
        return self.snapshot.config.limits


class Arrivals:
    """The clients of one listener, on their way to a broker of its cluster."""

    def __init__(
        self,
        listener: str,
        exposure: Exposure,
        upstream: Callable[[], Upstream],
        worker: Worker,
    ) -> None:
        self._waiting = exposure.waiting[listener]
        self._listener = listener
        self._cluster = exposure.cluster
        self._topology = exposure.topologies[listener]
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
        """A client came to the port of a broker, or (None) to the bootstrap port."""
        worker = self._worker
        if worker.counters.open >= worker.limits.connections:
            client.close()
            worker.counters.over_connections += 1
            most = f"{worker.limits.connections} are open (limits.connections)"
            self._complain("connection refused", None, peer, most)
            return
        worker.counters.accepted += 1
        worker.counters.open += 1
        worker.dialling.start_soon(self._arrive, client, peer, broker_id)

    def _complain(self, event: str, about: Hashable, peer: tuple[str, int], why: str, **facts: object) -> None:
        here = {"client": str(Endpoint(*peer)), "listener": self._listener}
        self._worker.complaints.tell(log.warning, event, (self._listener, about), why, why=why, **facts, **here)

    async def _arrive(self, client: socket.socket, peer: tuple[str, int], broker_id: int | None) -> None:
        with self._worker.tasks.contained("bringing a client to a broker", listener=self._listener):
            scope = trio.CancelScope()
            self._arriving.add(scope)
            try:
                with scope:
                    await self._connect(client, peer, broker_id)
            finally:
                self._arriving.remove(scope)

    async def _connect(self, client: socket.socket, peer: tuple[str, int], broker_id: int | None) -> None:
        broker = introduced = welcomed = None
        shaken: AnySocket = client
        # By this a client comes in, whatever is in force meanwhile: part of one and part of another may be neither.
        here, upstream = self._worker.snapshot.listeners[self._listener], self._upstream()
        try:
            if here.filters.accepted and not await self._admitted(here.filters, client, peer, broker_id):
                return
            if here.tls is not None:
                welcomed = await here.tls.welcome(client, broker_id, self._worker.limits)
                shaken, broker_id = welcomed.socket, welcomed.broker_id
            principal = None if welcomed is None else welcomed.principal
            broker, introduced = await self._reach(upstream, broker_id, principal, later=here.introduce_later)
        except UnreachableError as error:
            self._worker.counters.failed_dial += not error.stalled
            self._worker.counters.slow_dial += error.stalled
            upstream.ask_again()
            self._complain("broker unreachable", broker_id, peer, str(error), broker=broker_id)
        except HandshakeError as error:
            self._worker.counters.slow_handshake += error.limit == "handshake"
            self._worker.counters.over_handshakes += error.limit == "handshakes"
            self._worker.counters.failed_handshakes += error.limit is None
            self._complain("no TLS", peer[0], peer, str(error))
        finally:
            if broker is None:  # also when the proxy is about to end
                self._worker.counters.open -= 1
                shaken.close()
        if broker is not None and self._is_over:
            self._worker.counters.open -= 1
            shaken.close()
            plain_socket(broker).close()
        elif broker is not None:
            connection = Connection(peer, self._listener, self._cluster, self._topology, broker_id)
            if welcomed is not None:
                connection.tls, connection.principal = welcomed.facts, welcomed.principal
                connection.taken_for = "" if welcomed.principal else None
            if introduced is not None:
                connection.taken_for = introduced.identity.principal
            self._begin(connection, here.filters.plugins[0], shaken, plain_socket(broker), introduced)

    async def _admitted(
        self, filters: Filters, client: socket.socket, peer: tuple[str, int], broker_id: int | None
    ) -> bool:
        """Do all plugins let this client come?"""
        arrival = Arrival(peer, self._listener, self._cluster, broker_id)
        steps = caught(arrival_steps(filters.accepted, arrival))
        decision = await admit(client, steps, self._worker.limits.idle)
        if isinstance(decision, Disconnect):
            self._complain("connection refused", broker_id, peer, decision.reason)
        elif isinstance(decision, HandlerError):
            self._worker.link_counters.failed_handlers += 1
            kind = type(decision.cause).__name__
            self._complain("handler failed", str(decision), peer, f"{decision} failed", error=kind, at=decision.at)
        return decision is None

    def _begin(
        self,
        connection: Connection,
        authentication: Plugin,
        client: AnySocket,
        broker: AnySocket,
        introduced: Introduced | None,
    ) -> None:
        """Both sides are there: serve them, from what the handshake of TLS brought ahead on."""
        worker, snapshot = self._worker, self._worker.snapshot
        link: Link | None = None
        try:
            filters = snapshot.filters(self._listener, authentication)
            clock, allowance = worker.reactor.clock, worker.allowance
            clock.now = trio.current_time()
            link = Link(connection, filters, snapshot.limits, worker.link_counters, clock, allowance)
            beginning = link.begin()
            if introduced is not None and introduced.lifetime is not None:
                link.run(keep_up(connection, introduced.identity, introduced.versions, introduced.lifetime))
            conversation = self._worker.reactor.adopt(client, broker, link)
        except BaseException:
            if link is not None:
                link.release("the proxy failed; its log says where")
            self._worker.counters.open -= 1
            client.close()
            broker.close()
            raise
        try:
            conversation.carry_out(beginning)
            if isinstance(client, TlsSocket) and client.ahead and not conversation.closing:
                self._worker.reactor.look(conversation.client)
        except BaseException:
            conversation.abort("the proxy failed; its log says where")
            raise

    async def _places(self, upstream: Upstream, broker_id: int) -> Iterable[Endpoint]:
        """Where that broker is, and where discovery found it last: an answer to a client may have said otherwise since.

        Another worker may have told of it before we hear of it. Raises UnreachableError.
        """
        if broker_id not in self._topology.brokers:
            with trio.move_on_after(HEARSAY):
                while broker_id not in self._topology.brokers:
                    await self._waiting.park()
        if broker_id not in self._topology.brokers:
            raise UnreachableError(self._topology.place(broker_id), "no such broker was ever seen")
        told = self._topology.brokers[broker_id].real
        return dict.fromkeys((told, upstream.brokers.get(broker_id, told)))

    async def _reach(
        self, upstream: Upstream, broker_id: int | None, principal: str | None, *, later: bool
    ) -> tuple[trio.SocketStream | TlsStream, Introduced | None]:
        """A connection to that broker, or to any, that knows who we are. Raises UnreachableError."""
        candidates: Iterable[Endpoint] = upstream.anybody()
        if broker_id is not None:
            candidates = await self._places(upstream, broker_id)
        until = trio.current_time() + self._worker.limits.dial
        failed: UnreachableError | None = None
        for endpoint in candidates:
            try:
                stream = await upstream.dial(endpoint, until)
            except UnreachableError as error:
                failed = failed or error
                continue
            try:
                return stream, None if later else await upstream.introduce(stream, endpoint, principal)
            except UnreachableError as error:
                failed = failed or error
                await trio.aclose_forcefully(stream)
            except BaseException:  # the proxy is about to end
                await trio.aclose_forcefully(stream)
                raise
        assert failed is not None, "a cluster has bootstrap addresses"
        try:
            raise failed
        finally:
            del failed  # its traceback has this frame
