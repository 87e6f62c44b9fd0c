"""A connection of the admin side is freed when it is closed.

Hypercorn's objects for a connection refer to each other, so only the garbage collector would free them. It rarely
looks at objects that have been there for a while: serving makes no cycles, and looking would keep clients waiting.
After 2,000 connections with responses that nobody took, 36 MiB stayed.

So it is with an error of trio's stream in Python 3.13: the error that led to it and a frame of `contextlib` refer to
each other, and behind that frame are those of the connection.
"""

from collections.abc import Awaitable
from typing import Any, TypeVar

import trio
from hypercorn.trio import run as runs
from hypercorn.trio.tcp_server import TCPServer

from proxy.core.failure import detached

T = TypeVar("T")


class FreedServer(TCPServer):
    """One connection, from the time when it was accepted."""

    def __init__(self, app: Any, config: Any, context: Any, state: Any, stream: Any) -> None:
        super().__init__(app, config, context, state, FreedStream(stream))  # type: ignore[arg-type]

    async def run(self) -> None:
        """Serve it until it is closed, and all its tasks have ended."""
        try:
            await super().run()
        finally:
            if hasattr(self, "protocol"):  # there is none if the client left at once
                connection: Any = self.protocol.protocol
                connection.stream = None
                del self.protocol


class FreedStream:
    """The stream of a connection, whose errors refer to no frames and to no other errors."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def send_all(self, data: bytes) -> None:
        """Send this."""
        await _detaching(self._stream.send_all(data))

    async def send_eof(self) -> None:
        """Say that this was all."""
        await _detaching(self._stream.send_eof())

    async def receive_some(self, most: int) -> Any:
        """Receive so many bytes at most."""
        return await _detaching(self._stream.receive_some(most))


async def _detaching(step: Awaitable[T]) -> T:
    try:
        return await step
    except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
        if error.__context__ is not None:
            detached(error.__context__)
        raise detached(error)  # noqa: B904 (it has no cause any more)


def free_closed_connections() -> None:
    """Have Hypercorn serve every connection of this process in this way."""
    runs.TCPServer = FreedServer  # type: ignore[attr-defined]  # where it looks for the class
