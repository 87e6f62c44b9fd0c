"""Accepting: the connections of clients on the ports of one listener.

Rules:
* An error on one connection ends only that one. Without file descriptors, nothing is accepted for a moment.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import structlog
import trio

from proxy.net.tasks import Tasks
from proxy.text.scarce import is_scarce, way_out

log = structlog.get_logger()

BURST = 16  # connections accepted before other tasks have their turn: connecting one to a broker takes up to 1 ms
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

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Accept on every socket that is given after this has started, until it is stopped or cancelled."""
        with self._serving:
            async with trio.open_nursery() as self._nursery:
                task_status.started()
                await trio.sleep_forever()

    def stop(self) -> None:
        """Accept nothing more, and end what is served beside."""
        self._serving.cancel()

    def serve_beside(self, do: Callable[..., Awaitable[None]], *about: object) -> None:
        """Run this task for an accepted client. It is cancelled when the listener is shut."""
        self._nursery.start_soon(do, *about)

    def begin(self, listening: socket.socket, node_id: int | None) -> None:
        """Accept on this socket, for this broker, until it is closed."""
        self._nursery.start_soon(self._tasks.keep, "accepting clients", partial(self._accept, listening, node_id))

    async def _accept(self, listening: socket.socket, node_id: int | None) -> None:
        with suppress(trio.ClosedResourceError):  # the port was closed
            while listening.fileno() >= 0:
                await trio.lowlevel.wait_readable(listening)
                if not self._accept_some(listening, node_id):
                    await trio.sleep(BREATHER)

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
                self._tasks.counters.failed_accepts += 1
                facts = {"listener": self._name, "why": error.strerror, "way_out": way_out(error.errno)}
                self._tasks.complaints.tell(log.error, "cannot accept", self._name, **facts)
                return False
            client.setblocking(False)
            with self._tasks.contained("accepting a client"):
                self.accepted(client, _address(peer), node_id)
        return True


def _address(peer: Any) -> tuple[str, int]:
    host, port = peer[:2]
    return host.removeprefix(MAPPED) if "." in host else host, port
