"""Listeners: a bootstrap port, and a port for each broker after it.

Rules:
* Broker N is served on the bootstrap port + 1 + N, for as long as the process lives. The number depends on nothing
  else, so that every worker, and every proxy with the same configuration, gives clients the same address.
* A broker's port is open when `open` returns, so before the response leaves that tells a client of it. If it cannot be
  opened, clients are given an address at which nobody answers, since any process may have the port.
* Two listeners of one proxy may need the same port, for brokers of two clusters. It belongs to the listener whose
  bootstrap port is nearer below it, and never to a broker if it is a bootstrap port. Otherwise a cluster could take the
  clients of another by inventing an id, and workers, which share their ports, would not even notice.
* With a host name for each broker, all brokers are served on the bootstrap port. The name tells them apart.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Container, Sequence

import trio

from proxy.config.tls import ID
from proxy.core.addresses import LAST_PORT
from proxy.core.topology import NOWHERE, Endpoint
from proxy.net.accepting import Acceptor
from proxy.net.bind import BindError, listen, look_up, overlap, refused
from proxy.net.dial import family_of
from proxy.net.tasks import Tasks


class Listener:
    """All ports of one listener. Its `acceptor` accepts on them."""

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
        taken: Container[str] = (),
    ) -> None:
        self.name = name
        self.bind = bind
        self.ports: dict[int, int] = {}  # the ports that are open, by node id
        self.missing: set[int] = set()  # brokers whose ports could not be opened
        self.acceptor = Acceptor(name, tasks)
        self.lost: Callable[[int], None] = lambda node_id: None  # called with a broker whose port another listener took
        self._neighbours = neighbours  # all listeners of this proxy
        self._advertised_host = advertised_host
        self._shared = shared
        self._taken = taken  # names of listeners whose ports somebody else has
        self._hosts = hosts  # the pattern of brokers' host names, if all brokers are reached on one port
        self._sockets: dict[int | None, list[socket.socket]] = {}
        self.is_shut = False

    @property
    def is_open(self) -> bool:
        """Is the bootstrap port open?"""
        return None in self._sockets

    def advertise_as(self, host: str) -> None:
        """Set the host that clients are told from now on."""
        self._advertised_host = host

    def advertise(self, node_id: int) -> Endpoint:
        """The address that clients are told for a broker."""
        if self._hosts is not None:
            return Endpoint(self._hosts.replace(ID, str(node_id)), self.bind.port if node_id >= 0 else NOWHERE)
        port = self.port_of(node_id)
        there = node_id >= 0 and port <= LAST_PORT and node_id not in self.missing
        return Endpoint(self._advertised_host, port if there else NOWHERE)

    def has(self, port: int) -> bool:
        """Is this a port of ours? The bootstrap port counts before it is open."""
        return port == self.bind.port or self.ports.get(port - self.port_of(0)) == port

    def port_of(self, node_id: int) -> int:
        """The port for a broker. It may be beyond the last port that exists."""
        return self.bind.port + 1 + node_id

    async def look_up(self) -> None:
        """Look up the host to listen on, if it is a name. Then opening a port does not wait."""
        if family_of(self.bind.host) is None:
            await trio.to_thread.run_sync(look_up, self.bind.host, abandon_on_cancel=True)

    def open_bootstrap(self) -> None:
        """Open the bootstrap port, unless it is open. Raises BindError."""
        if not self.is_open:
            option = f"listeners.{self.name}.bind"
            self._leave_taken(option)
            self._take(self.bind.port, option)
            self._open(self.bind, option, None)

    def open(self, node_id: int) -> None:
        """Open a broker's port at once, unless it is open. Raises BindError."""
        if node_id in self.ports or self.is_shut:
            return
        port = self.bind.port
        if self._hosts is None:
            port = self.port_of(node_id)
            self.missing.add(node_id)
            option = f"listeners.{self.name}.bind (broker {node_id} answers on its port + 1 + {node_id})"
            if port > LAST_PORT:
                raise BindError(f"no port {port} for broker {node_id}; change {option} to a lower one")
            self._leave_taken(option)
            self._take(port, option)
            self._open(Endpoint(self.bind.host, port), option, node_id)
            self.missing.remove(node_id)
        self.ports[node_id] = port

    def _leave_taken(self, option: str) -> None:
        if self.name in self._taken:
            raise BindError(f"{self.bind}: somebody else has the port; stop it, or change {option}")

    def _take(self, port: int, option: str) -> None:
        """Claim this port among the listeners of this proxy. Raises BindError."""
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
        """Close all ports for good."""
        self.is_shut = True
        self.acceptor.stop()
        self._close(None)
        for node_id in tuple(self.ports):
            self.close(node_id)

    def close(self, node_id: int) -> None:
        """Close the port of a broker, if it has one."""
        self.ports.pop(node_id, None)
        self.missing.discard(node_id)
        self._close(node_id)

    def _close(self, node_id: int | None) -> None:
        for listening in self._sockets.pop(node_id, ()):
            self.acceptor.end(listening)
            listening.close()

    def _open(self, endpoint: Endpoint, option: str, node_id: int | None) -> None:
        self._sockets[node_id] = listen(endpoint, option, shared=self._shared)
        try:
            for listening in self._sockets[node_id]:
                self.acceptor.begin(listening, node_id)
        except OSError as error:
            self._close(node_id)
            raise refused(endpoint, error.errno, option) from None

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Accept on every port that is opened after this has started. When cancelled, close all."""
        try:
            await self.acceptor.serve(task_status)
        finally:
            for node_id in tuple(self._sockets):
                self._close(node_id)
