"""Accepting: the connections of clients on the ports of one listener.

Rules:
* One task watches all ports, by an epoll of its own. A task for each takes 4 KB: a faulty broker can invent thousands
  of brokers, and each has a port.
* An error on one connection ends only that one. Without file descriptors, nothing is accepted for a moment.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
import trio

from proxy.net.tasks import Tasks
from proxy.text.scarce import is_scarce, way_out

log = structlog.get_logger()

BURST = 16  # connections accepted before other tasks have their turn: connecting one to a broker takes up to 1 ms
PORTS = 64  # taken from the epoll at a time
BREATHER = 0.1  # seconds without accepting when no descriptors are left
MAPPED = "::ffff:"  # the prefix of IPv4 clients on an IPv6 socket

OnAccepted = Callable[[socket.socket, tuple[str, int], int | None], None]


class Acceptor:
    """Accepts for the listener of this name. `accepted` is called with a connection, its peer, and its broker's id."""

    def __init__(self, name: str, tasks: Tasks) -> None:
        self.accepted: OnAccepted
        self._name = name
        self._tasks = tasks
        self._serving = trio.CancelScope()
        self._nursery: trio.Nursery
        self._epoll: select.epoll | None = None  # while it accepts
        self._listening: dict[int, tuple[socket.socket, int | None]] = {}  # by descriptor

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Accept on every socket that is given, until it is stopped or cancelled."""
        with self._serving:
            async with trio.open_nursery() as self._nursery:
                self._nursery.start_soon(self._tasks.keep, "accepting clients", self._accept)
                task_status.started()
                await trio.sleep_forever()

    def stop(self) -> None:
        """Accept nothing more, and end the tasks of accepted clients."""
        self._serving.cancel()

    def serve_beside(self, do: Callable[..., Awaitable[None]], *about: object) -> None:
        """Run this task for an accepted client. It is cancelled when the listener is shut."""
        self._nursery.start_soon(do, *about)

    def begin(self, listening: socket.socket, node_id: int | None) -> None:
        """Accept on this socket, for this broker. Raises OSError if the system has no room for more."""
        if self._epoll is not None:
            self._epoll.register(listening, select.EPOLLIN)
        self._listening[listening.fileno()] = listening, node_id

    def end(self, listening: socket.socket) -> None:
        """Accept on this socket no more. It is still open."""
        if self._listening.pop(listening.fileno(), None) is not None and self._epoll is not None:
            self._epoll.unregister(listening)

    async def _accept(self) -> None:
        with await self._new_epoll() as epoll:
            for descriptor in self._listening:
                epoll.register(descriptor, select.EPOLLIN)
            self._epoll = epoll
            try:
                await self._accept_by(epoll)
            finally:
                self._epoll = None

    async def _new_epoll(self) -> select.epoll:
        while True:
            try:
                return select.epoll()
            except OSError as error:
                if not is_scarce(error):
                    raise
                self._tell(error)
            await trio.sleep(BREATHER)

    async def _accept_by(self, epoll: select.epoll) -> None:
        while True:
            await trio.lowlevel.wait_readable(epoll.fileno())
            for descriptor, _ in epoll.poll(0, PORTS):
                found = self._listening.get(descriptor)
                if found is None:
                    continue  # the port was closed meanwhile
                if not self._accept_some(*found):
                    await trio.sleep(BREATHER)
                    break
                await trio.lowlevel.checkpoint()

    def _accept_some(self, listening: socket.socket, node_id: int | None) -> bool:
        """Accept a few of the waiting connections. False: there are no descriptors left."""
        for _ in range(BURST):
            try:
                client, peer = listening.accept()
            except BlockingIOError:
                return True
            except OSError as error:
                if not is_scarce(error):
                    return True  # that connection was gone before it was accepted
                self._tell(error)
                return False
            client.setblocking(False)
            with self._tasks.contained("accepting a client"):
                self.accepted(client, _address(peer), node_id)
        return True

    def _tell(self, error: OSError) -> None:
        """Count that something is scarce, and tell of it."""
        self._tasks.counters.failed_accepts += 1
        facts = {"listener": self._name, "why": error.strerror, "way_out": way_out(error.errno)}
        self._tasks.complaints.tell(log.error, "cannot accept", self._name, **facts)


def _address(peer: Any) -> tuple[str, int]:
    host, port = peer[:2]
    return host.removeprefix(MAPPED) if "." in host else host, port
