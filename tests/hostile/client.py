"""A hostile client: a plain socket that can send anything, and keeps every byte that it receives."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from proxy.protocol.codec import decode
from proxy.protocol.frame import SIZE
from proxy.protocol.header import read_response_header, request_frame
from proxy.protocol.schema import Request
from tests.hostile.canary import HOST, REAL

PATIENCE = 10.0  # seconds to wait for a socket before giving up
LONG = 30.0  # and for anything that is looked for again and again
KEPT = 32 << 20  # bytes received that are kept, at most
CLOSED = (ConnectionResetError, BrokenPipeError, ConnectionAbortedError, ssl.SSLError)


class NotHeldError(AssertionError):
    """The proxy did not withstand an attack; the text says what was seen."""


class Client:
    """One connection. `sock` may be anything that sends and receives like a socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.sock.settimeout(PATIENCE)
        self.told = bytearray()
        self._rest = bytearray()

    def send(self, data: bytes | memoryview) -> bool:
        """Send all of it; False where the connection was closed meanwhile."""
        try:
            self.sock.sendall(data)
        except CLOSED:
            return False
        return True

    def push(self, data: bytes, within: float = 1.0) -> int:
        """Send as much as the proxy takes within this many seconds, and give the number of bytes."""
        view, sent, end = memoryview(data), 0, time.monotonic() + within
        try:
            while sent < len(view) and (left := end - time.monotonic()) > 0:
                self.sock.settimeout(left)
                sent += self.sock.send(view[sent : sent + (1 << 20)])
        except (TimeoutError, *CLOSED):
            pass
        finally:
            self.sock.settimeout(PATIENCE)
        return sent

    def receive(self) -> bytes:
        """The next bytes; empty at the end of the connection. Raises TimeoutError."""
        try:
            data = self.sock.recv(1 << 18)
        except CLOSED:
            return b""
        if len(self.told) < KEPT:
            self.told += data
        self._rest += data
        return data

    def silent(self, seconds: float) -> bool:
        """True where the connection stays open for this many seconds and nothing arrives."""
        self.sock.settimeout(seconds)
        try:
            self.receive()
        except TimeoutError:
            return True
        finally:
            self.sock.settimeout(PATIENCE)
        return False

    def frame(self) -> bytes:
        """The next response frame, without its size. Raises EOFError where the connection was closed instead."""
        while len(self._rest) < SIZE.size or len(self._rest) < SIZE.size + SIZE.unpack_from(self._rest)[0]:
            if not self.receive():
                raise EOFError("closed instead of an answer")
        end = SIZE.size + SIZE.unpack_from(self._rest)[0]
        frame = bytes(self._rest[SIZE.size : end])
        del self._rest[:end]
        return frame

    def ask(self, request: Request, version: int, number: int = 1) -> Any:
        """Send a request and give its response. Raises EOFError where the connection was closed instead."""
        self.send(request_frame(request, version, number, "hostile"))
        return self.answer(request, version, number)

    def ask_quietly(self, data: bytes) -> bytes:
        """Send these bytes and give the next response frame; empty where the connection was closed instead."""
        self.send(data)
        try:
            return self.frame()
        except EOFError:
            return b""

    def answer(self, request: Request, version: int, number: int = 1) -> Any:
        """The response to a request that was sent before."""
        frame = self.frame()
        header, at = read_response_header(request.api, version, frame)
        if header.correlation_id != number:
            raise NotHeldError(f"the answer to {header.correlation_id}, not to {number}")
        return decode(request.api.response, version, frame[at:])

    def ends(self, within: float = PATIENCE) -> Client:
        """Wait until the proxy closes the connection."""
        end = time.monotonic() + within
        try:
            while self.receive():
                if time.monotonic() > end:
                    raise NotHeldError("it talks on and on")
        except TimeoutError:
            raise NotHeldError(f"still open after {within:g} s") from None
        return self

    def half_close(self) -> None:
        """Close the sending side."""
        with suppress(OSError):  # the connection is closed already
            self.sock.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Close the connection with a reset (RST) instead of a FIN."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.sock.close()

    def close(self) -> None:
        self.sock.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def leaked(self) -> bool:
        """Did it receive the real address of a broker?"""
        return REAL.encode() in self.told


def patiently(what: str, within: float = LONG) -> Iterator[None]:
    """Rounds of a polling loop, which the caller leaves with `break`. Raises NotHeldError when that takes too long."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        yield
        time.sleep(0.01)
    raise NotHeldError(f"not within {within:g} s: {what}")


def connect(port: int, receive: int = 0, source: str = "") -> socket.socket:
    """A connection to the proxy from the address `source`, with a receive buffer of `receive` bytes."""
    sock = socket.socket()
    if receive:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    if source:
        sock.bind((source, 0))
    try:
        sock.settimeout(PATIENCE)
        sock.connect((HOST, port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock


def settled(look: Callable[[], int], rounds: int = 20, within: float = LONG) -> int:
    """The value, once it does not change for this many rounds."""
    last, same = look(), 0
    for _ in patiently("it settles", within):
        now = look()
        same = same + 1 if now == last else 0
        last = now
        if same >= rounds:
            break
    return last
