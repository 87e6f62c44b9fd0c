"""Broker stream: a connection to a broker as a trio stream, on which the proxy itself asks something.

The reactor takes its socket afterwards. A `trio.SocketStream` would change the socket's options, and getting the socket
out of it would cost more than this.
"""

from __future__ import annotations

import trio

from proxy.net.outgoing import AnySocket

LARGEST = 64 << 10


class BrokerStream(trio.abc.Stream):
    """A connection with or without TLS. Closing it closes `socket`, which is non-blocking."""

    def __init__(self, connected: AnySocket) -> None:
        self.socket = connected

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
        """The bytes that are there, or the next ones; nothing if the stream has ended."""
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
