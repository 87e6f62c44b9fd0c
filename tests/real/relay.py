"""A relay that stands where clients connect, and reads every byte that they are sent.

It looks for a broker's own address in both forms: as text ("127.0.0.11", "127.0.0.1:23456"), and as the wire has it, a
host followed by its port in four bytes. A pattern may lie across two reads, so the end of each read is looked at
again with the next one.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType

import trio

CHUNK = 256 * 1024
CONTEXT = 48  # bytes shown on either side of a leak


def wire_address(host: str, port: int) -> bytes:
    """How a response ends a host and begins its port."""
    return host.encode() + port.to_bytes(4, "big")


def forbidden(brokers: Iterable[tuple[str, int]], advertised: str) -> re.Pattern[bytes]:
    """Everything that must not be told: a broker's host in any form, and its port beside any host."""
    words = []
    for host, port in brokers:
        words += [re.escape(host.encode()) + rb"(?![0-9])", re.escape(wire_address(advertised, port))]
        words.append(re.escape(f"{advertised}:{port}".encode()) + rb"(?![0-9])")
    return re.compile(b"|".join(words))


@dataclass
class Reader:
    """Finds the pattern in one connection's bytes, however they are cut."""

    pattern: re.Pattern[bytes]
    overlap: int = 128
    _rest: bytes = b""

    def read(self, data: bytes) -> Iterable[bytes]:
        """What was found in the new bytes, each with what stands around it."""
        looked_at = self._rest + data
        for found in self.pattern.finditer(looked_at):
            if found.end() > len(self._rest):
                yield looked_at[max(0, found.start() - CONTEXT) : found.end() + CONTEXT]
        self._rest = looked_at[-self.overlap :]


@dataclass
class Relay:
    """Listens on `host`, and sends on to `target`: `ports` says from which port to which. Runs in its own thread."""

    host: str
    target: str
    ports: Mapping[int, int]
    pattern: re.Pattern[bytes]
    leaks: list[bytes] = field(default_factory=list)
    sent_to_clients: int = 0
    connections: int = 0

    def __enter__(self) -> Relay:
        self._listening = threading.Event()
        self._failure: BaseException | None = None
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
                for port, target in self.ports.items():
                    listeners = await trio.open_tcp_listeners(port, host=self.host)
                    nursery.start_soon(trio.serve_listeners, partial(self._relay, target), listeners)
                self._listening.set()

    async def _relay(self, port: int, client: trio.SocketStream) -> None:
        self.connections += 1
        try:
            proxy = await trio.open_tcp_stream(self.target, port)
        except OSError:
            return  # the client sees a closed connection, as it would with nobody there
        async with proxy, trio.open_nursery() as nursery:
            nursery.start_soon(self._pump, client, proxy, None)
            nursery.start_soon(self._pump, proxy, client, Reader(self.pattern))

    async def _pump(self, source: trio.SocketStream, target: trio.SocketStream, reader: Reader | None) -> None:
        try:
            while data := await source.receive_some(CHUNK):
                if reader:
                    self.sent_to_clients += len(data)
                    self.leaks.extend(reader.read(bytes(data)))
                await target.send_all(data)
            await target.send_eof()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            await source.aclose()  # a reset on one side is the end of both
            await target.aclose()
