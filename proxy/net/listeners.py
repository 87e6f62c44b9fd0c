"""Listeners: a port to begin at, and a port for each broker after it.

Rules:
* Broker N answers on the bootstrap port + 1 + N, for as long as the process lives. The number depends on nothing else,
  so that every worker, and every proxy with the same configuration, gives clients the same address.
* A broker's port is open when `open` returns: before the answer leaves that tells a client of it. While it cannot be
  had, clients are told nobody's address: who has the port instead may be anybody.
* Listeners of one proxy may want the same port, for brokers of two clusters: it belongs to the one that begins nearer
  below it, and never to one where another begins. Otherwise a cluster could take the clients of another by inventing
  an id, and workers, which share their ports, would not even notice.
* With a host name a broker, all of them answer on the bootstrap port, told apart by that name.
* What goes wrong with one connection ends that one. Without descriptors nobody is accepted for a moment.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import structlog
import trio

from proxy.config.tls import ID
from proxy.core.addresses import LAST_PORT
from proxy.core.topology import NOWHERE, Endpoint
from proxy.net.bind import BindError, listen, overlap
from proxy.net.tasks import Tasks
from proxy.text.scarce import MORE_DESCRIPTORS, is_scarce

log = structlog.get_logger()

BURST = 16  # connections accepted before others get their turn: bringing one to a broker takes up to 1 ms
BREATHER = 0.1  # seconds without accepting when there are no descriptors left
MAPPED = "::ffff:"  # an IPv4 client of an IPv6 socket

Accepted = Callable[[socket.socket, tuple[str, int], int | None], None]


class Listener:
    """All ports of one listener. `accepted` is given each connection, its peer and the id of the broker it is for."""

    def __init__(
        self,
        name: str,
        bind: Endpoint,
        advertised_host: str,
        tasks: Tasks,
        neighbours: Sequence[Listener] = (),
        *,
        shared: bool = False,
        hosts: str | None = None,
    ) -> None:
        self.name = name
        self.bind = bind
        self.ports: dict[int, int] = {}  # the ports that are open, by node id
        self.missing: set[int] = set()  # the brokers whose ports could not be had
        self.accepted: Accepted
        self.lost: Callable[[int], None] = lambda node_id: None  # told of a broker whose port another listener took
        self._neighbours = neighbours  # all listeners of this proxy
        self._advertised_host = advertised_host
        self._tasks = tasks
        self._shared = shared
        self._hosts = hosts  # of brokers, with a place for the id: all are reached on the one port
        self._sockets: dict[int | None, list[socket.socket]] = {}
        self._serving = trio.CancelScope()
        self.is_shut = False
        self._nursery: trio.Nursery

    @property
    def is_open(self) -> bool:
        """Can clients begin?"""
        return None in self._sockets

    def advertise_as(self, host: str) -> None:
        """Clients are told this host from now on."""
        self._advertised_host = host

    def advertise(self, node_id: int) -> Endpoint:
        """What clients are told of a broker."""
        if self._hosts is not None:
            return Endpoint(self._hosts.replace(ID, str(node_id)), self.bind.port if node_id >= 0 else NOWHERE)
        port = self.port_of(node_id)
        there = node_id >= 0 and port <= LAST_PORT and node_id not in self.missing
        return Endpoint(self._advertised_host, port if there else NOWHERE)

    def has(self, port: int) -> bool:
        """Is this a port of ours, open or (to begin at) about to be?"""
        return port == self.bind.port or self.ports.get(port - self.port_of(0)) == port

    def port_of(self, node_id: int) -> int:
        """The port for a broker, which may be more than there are."""
        return self.bind.port + 1 + node_id

    def open_bootstrap(self) -> None:
        """Open the port where clients begin, unless it is open. Raises BindError."""
        if not self.is_open:
            option = f"listeners.{self.name}.bind"
            self._take(self.bind.port, option)
            self._open(self.bind, option, None)

    def open(self, node_id: int) -> None:
        """Open a broker's port, now, unless it is open. Raises BindError."""
        if node_id in self.ports or self.is_shut:
            return
        port = self.bind.port
        if self._hosts is None:
            port = self.port_of(node_id)
            self.missing.add(node_id)
            option = f"listeners.{self.name}.bind (broker {node_id} answers on its port + 1 + {node_id})"
            if port > LAST_PORT:
                raise BindError(f"no port {port} for broker {node_id}; change {option} to a lower one")
            self._take(port, option)
            self._open(Endpoint(self.bind.host, port), option, node_id)
            self.missing.remove(node_id)
        self.ports[node_id] = port

    def _take(self, port: int, option: str) -> None:
        """Have this port to ourselves among our neighbours. Raises BindError."""
        for other in self._neighbours:
            if other is self or not other.has(port) or not overlap(self.bind.host, other.bind.host):
                continue
            if other.bind.port >= self.bind.port:
                raise BindError(f"port {port} belongs to listener {other.name}; change {option}")
            node_id = port - other.port_of(0)
            other.close(node_id)
            other.missing.add(node_id)
            other.lost(node_id)

    def shut(self) -> None:
        """Close all ports, for good."""
        self.is_shut = True
        self._serving.cancel()
        self._close(None)
        for node_id in tuple(self.ports):
            self.close(node_id)

    def close(self, node_id: int) -> None:
        """Give back the port of a broker, which may have none."""
        self.ports.pop(node_id, None)
        self.missing.discard(node_id)
        self._close(node_id)

    def _close(self, node_id: int | None) -> None:
        for listening in self._sockets.pop(node_id, ()):
            trio.lowlevel.notify_closing(listening)
            listening.close()

    def _open(self, endpoint: Endpoint, option: str, node_id: int | None) -> None:
        self._sockets[node_id] = listen(endpoint, option, shared=self._shared)
        for listening in self._sockets[node_id]:
            self._nursery.start_soon(self._tasks.keep, "accepting clients", partial(self._accept, listening, node_id))

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Accept on every port that is opened once this has started; when cancelled, close all."""
        try:
            with self._serving:
                async with trio.open_nursery() as self._nursery:
                    task_status.started()
                    await trio.sleep_forever()
        finally:
            for sockets in self._sockets.values():
                for listening in sockets:
                    listening.close()

    async def _accept(self, listening: socket.socket, node_id: int | None) -> None:
        with suppress(trio.ClosedResourceError):  # the port was given back
            while listening.fileno() >= 0:
                await trio.lowlevel.wait_readable(listening)
                if not self._accept_some(listening, node_id):
                    await trio.sleep(BREATHER)

    def _accept_some(self, listening: socket.socket, node_id: int | None) -> bool:
        """Accept those who wait, up to a few. False: there are no descriptors left."""
        for _ in range(BURST):
            try:
                client, peer = listening.accept()
            except BlockingIOError:
                return True
            except OSError as error:
                if not is_scarce(error):
                    return True  # that one connection was gone before it was accepted
                self._tasks.counters.failed_accepts += 1
                facts = {"listener": self.name, "why": error.strerror, "way_out": MORE_DESCRIPTORS}
                self._tasks.complaints.tell(log.error, "cannot accept", self.name, **facts)
                return False
            client.setblocking(False)
            with self._tasks.contained("accepting a client"):
                self.accepted(client, _address(peer), node_id)
        return True


def _address(peer: Any) -> tuple[str, int]:
    host, port = peer[:2]
    return host.removeprefix(MAPPED) if "." in host else host, port
