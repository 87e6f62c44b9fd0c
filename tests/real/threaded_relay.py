"""A relay between clients and a proxy, in its own thread. Each connection has readers for its bytes.

Where the proxy cannot be reached, the client's connection is closed. A reset on one side ends both sides.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Self

import trio

CHUNK = 256 * 1024

Read = Callable[[bytes], None]


class ThreadedRelay:
    """Listens on `host` and forwards to `target`; `ports` maps its ports to those of the target."""

    def __init__(self, host: str, target: str, ports: Mapping[int, int]) -> None:
        self._host, self._target, self._ports = host, target, ports
        self._listening = threading.Event()
        self._failure: BaseException | None = None

    def readers(self, port: int) -> tuple[Read, Read]:
        """The readers of a connection, by its source port at the proxy: of bytes from the client, and of bytes to it.

        A reader gets `b""` where the client reset the connection: bytes in flight to the client were then not read.
        """
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="relay")
        self._thread.start()
        self._listening.wait()
        if self._failure:
            raise self._failure
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._token.run_sync_soon(self._scope.cancel)
        self._thread.join()

    def _run(self) -> None:
        try:
            trio.run(self._serve)
        except BaseException as failure:
            self._failure = failure
            self._listening.set()

    async def _serve(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        with trio.CancelScope() as self._scope:
            async with trio.open_nursery() as nursery:
                for port, target in self._ports.items():
                    listeners = await trio.open_tcp_listeners(port, host=self._host)
                    nursery.start_soon(trio.serve_listeners, partial(self._relay, target), listeners)
                self._listening.set()

    async def _relay(self, port: int, client: trio.SocketStream) -> None:
        try:
            proxy = await trio.open_tcp_stream(self._target, port)
        except OSError:
            return  # the client sees a closed connection, as without a listener
        asked, answered = self.readers(proxy.socket.getsockname()[1])
        async with proxy, trio.open_nursery() as nursery:
            nursery.start_soon(_pump, client, proxy, asked, client)
            nursery.start_soon(_pump, proxy, client, answered, client)


async def _pump(source: trio.SocketStream, target: trio.SocketStream, read: Read, client: trio.SocketStream) -> None:
    at = source
    try:
        while data := await source.receive_some(CHUNK):
            read(bytes(data))
            at = target
            await target.send_all(data)
            at = source
        at = target
        await target.send_eof()
    except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
        if at is client and isinstance(error, trio.BrokenResourceError):
            read(b"")
        await source.aclose()
        await target.aclose()
