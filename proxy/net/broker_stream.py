"""Broker stream: a connection to a broker as trio speaks of it, where the proxy itself says something on it.

Its socket is what the reactor takes afterwards, so it is no stream of trio's own: that would set the socket up for a
task per connection, and could not be taken apart again for nothing.
"""

from __future__ import annotations

import trio

from proxy.net.outgoing import AnySocket

LARGEST = 64 << 10


class BrokerStream(trio.abc.Stream):
    """A connection, plain or sealed. Closing it closes `socket`, which does not block."""

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
