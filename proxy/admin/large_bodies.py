"""Large bodies: the memory that a large request or response took is returned to the system afterwards.

A megabyte of JSON is 30 MiB of objects for a moment. Python and the C library keep that memory for later use, and the
gateway's memory budget in this process does not count it.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGE = 64 << 10  # bytes; giving back takes 1 ms and more, which smaller bodies are not worth


class LargeBodies:
    """An ASGI application around another one. `used_much` is called after each large exchange."""

    def __init__(self, app: ASGIApp, used_much: Callable[[], None]) -> None:
        self._app = app
        self._used_much = used_much

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Calls `used_much` if it was large."""
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            return message

        async def told(message: Message) -> None:
            nonlocal size
            size += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, counted, told)
        finally:
            if size >= LARGE:
                self._used_much()
