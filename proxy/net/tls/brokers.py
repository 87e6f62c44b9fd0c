"""Brokers with TLS: a connection to one, sealed, first for us to speak on and then for the reactor."""

from __future__ import annotations

import socket

import trio

from proxy.config.tls import ClusterTls
from proxy.net.tls.handshake import shake_hands
from proxy.net.tls.sockets import TlsSocket
from proxy.net.tls.watched_files import WatchedFiles

LARGEST = 64 << 10


class TlsStream(trio.abc.Stream):
    """A sealed connection as trio speaks of it. `socket` is what the reactor takes."""

    def __init__(self, sealed: TlsSocket) -> None:
        self.socket = sealed

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of it."""
        await trio.lowlevel.checkpoint()
        view = memoryview(data)
        while True:
            try:
                view = view[self.socket.send(view) :]
            except BlockingIOError:
                pass
            except OSError as error:
                raise trio.BrokenResourceError(str(error)) from error
            if not view:
                return
            await trio.lowlevel.wait_writable(self.socket.fileno())

    async def wait_send_all_might_not_block(self) -> None:
        """Wait for room."""
        await trio.lowlevel.wait_writable(self.socket.fileno())

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """What is there, or the next that comes; nothing where the stream has ended."""
        await trio.lowlevel.checkpoint()
        room = memoryview(bytearray(min(max_bytes or LARGEST, LARGEST)))
        while True:
            try:
                return bytes(room[: self.socket.recv_into(room, len(room))])
            except BlockingIOError:
                await trio.lowlevel.wait_readable(self.socket.fileno())
            except OSError as error:
                raise trio.BrokenResourceError(str(error)) from error

    async def aclose(self) -> None:
        """Close it."""
        self.socket.close()
        await trio.lowlevel.checkpoint()


class BrokerTls:
    """TLS with the brokers of one cluster."""

    def __init__(self, name: str, tls: ClusterTls) -> None:
        from proxy.net.tls.contexts import files, for_brokers  # reads certificates: 10 MB, only where there are any

        self.kept = WatchedFiles(f"clusters.{name}.tls", files(tls), lambda: for_brokers(tls))
        self._server_name = tls.server_name

    async def seal(self, connected: socket.socket, host: str, seconds: float) -> TlsStream:
        """Do the handshake with the broker that was dialled as `host`. Raises HandshakeError."""
        sealed = TlsSocket(connected, self.kept.value, self._server_name or host.rstrip("."))
        await shake_hands(sealed, seconds)
        return TlsStream(sealed)
