"""Listeners: a port to begin at, and a port for each broker after it.

Rules:
* Broker N answers on the bootstrap port + 1 + N, for as long as the process lives. The number depends on nothing else,
  so that every worker, and every proxy with the same configuration, gives clients the same address.
* A broker's port is open when `open` returns: before the answer leaves that tells a client of it.
* An open port stays open when its broker leaves; whoever comes is closed at once, as by a dead broker.
* With a host name a broker, all of them answer on the bootstrap port, told apart by that name.
* A port that cannot be had at the start ends the proxy; later it is an error in the log, and tried again.
"""

import errno
import socket
from collections.abc import Callable
from typing import Any

import structlog
import trio

from proxy.config.tls import ID
from proxy.core.topology import Endpoint
from proxy.net.bind import BindError, listen
from proxy.net.complaints import Complaints

log = structlog.get_logger()

LAST_PORT = 65_535
NOWHERE = 0  # nobody listens on port 0: what clients are told where no port is left
BURST = 64  # connections accepted before others get their turn
OUT_OF_DESCRIPTORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
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
        complaints: Complaints,
        *,
        shared: bool = False,
        hosts: str | None = None,
    ) -> None:
        self.name = name
        self.bind = bind
        self.ports: dict[int, int] = {}  # the ports that are open, by node id
        self.accepted: Accepted
        self._advertised_host = advertised_host
        self._complaints = complaints
        self._shared = shared
        self._hosts = hosts  # of brokers, with a place for the id: all are reached on the one port
        self._sockets: list[socket.socket] = []
        self._nursery: trio.Nursery

    def advertise(self, node_id: int) -> Endpoint:
        """What clients are told of a broker."""
        if self._hosts is not None:
            return Endpoint(self._hosts.replace(ID, str(node_id)), self.bind.port)
        port = self.port_of(node_id)
        return Endpoint(self._advertised_host, port if port <= LAST_PORT else NOWHERE)

    def port_of(self, node_id: int) -> int:
        """The port for a broker, which may be more than there are."""
        return self.bind.port + 1 + node_id

    def open_bootstrap(self) -> None:
        """Open the port where clients begin. Raises BindError."""
        self._open(self.bind, f"listeners.{self.name}.bind", None)

    def open(self, node_id: int) -> None:
        """Open a broker's port, now, unless it is open. Raises BindError."""
        if node_id in self.ports:
            return
        if self._hosts is not None:
            self.ports[node_id] = self.bind.port
            return
        option = f"listeners.{self.name}.bind (broker {node_id} answers on its port + 1 + {node_id})"
        port = self.port_of(node_id)
        if port > LAST_PORT:
            raise BindError(f"no port {port} for broker {node_id}; change {option} to a lower one")
        self._open(Endpoint(self.bind.host, port), option, node_id)
        self.ports[node_id] = port

    def _open(self, endpoint: Endpoint, option: str, node_id: int | None) -> None:
        for listening in listen(endpoint, option, shared=self._shared):
            self._sockets.append(listening)
            self._nursery.start_soon(self._accept, listening, node_id)

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Accept on every port that is opened once this has started; when cancelled, close all."""
        try:
            async with trio.open_nursery() as self._nursery:
                task_status.started()
                await trio.sleep_forever()
        finally:
            for listening in self._sockets:
                listening.close()

    async def _accept(self, listening: socket.socket, node_id: int | None) -> None:
        while True:
            await trio.lowlevel.wait_readable(listening)
            for _ in range(BURST):
                try:
                    client, peer = listening.accept()
                except BlockingIOError:
                    break
                except OSError as error:
                    if error.errno in OUT_OF_DESCRIPTORS:
                        self._cannot_accept(error)
                        await trio.sleep(BREATHER)
                    break  # otherwise that one connection was gone before it was accepted
                client.setblocking(False)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.accepted(client, _address(peer), node_id)

    def _cannot_accept(self, error: OSError) -> None:
        way_out = "raise the limit of open files (ulimit -n)"
        self._complaints.tell(
            log.error, "cannot accept", self.name, listener=self.name, why=error.strerror, way_out=way_out
        )


def _address(peer: Any) -> tuple[str, int]:
    host, port = peer[:2]
    return host.removeprefix(MAPPED) if "." in host else host, port
