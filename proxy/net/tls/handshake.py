"""The handshake: from a connection to an encrypted one, or to one reason why not.

Rules:
* It is the only part of TLS that waits, in the task that dials. Once it is done, the reactor serves the socket.
* Before it is done the peer is unknown, so time and bytes are limited. The caller limits the number of handshakes.
* Where TLS has an alert for what is wrong, the other side gets it.
* Nothing that a client says is written anywhere but in that one reason: `ssl` itself writes a traceback to standard
  error for every name (SNI) that is not ASCII.
"""

from __future__ import annotations

import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import trio

from proxy.net.tls.sayings import described
from proxy.net.tls.sockets import PENDING, TlsSocket

MOST = 128 << 10  # bytes; long certificate chains have 16 KiB


class HandshakeError(Exception):
    """TLS with the peer failed, and why. `limit`: the limit that was reached, if any."""

    def __init__(self, why: str, limit: str | None = None) -> None:
        super().__init__(why)
        self.limit = limit


async def shake_hands(tls: TlsSocket, seconds: float) -> None:
    """Do the handshake. Raises HandshakeError."""
    try:
        with trio.fail_after(seconds):
            if tls.tls.server_side:
                await _move(tls)  # the client begins
            while not _step(tls):
                await _move(tls)
            while tls.stuck:
                await trio.lowlevel.wait_writable(tls.fileno())
                tls.push()
    except trio.TooSlowError:
        raise HandshakeError(f"not done within {round(seconds, 2):g} s", "handshake") from None
    except ssl.SSLError as error:
        raise HandshakeError(described(error, tls.began)) from None
    except OSError as error:
        raise HandshakeError(f"the connection broke: {error.strerror or error}") from None


def _step(tls: TlsSocket) -> bool:
    """Continue with the bytes that are there. Returns whether the handshake is done."""
    strange: list[bytes] = []
    try:
        with _catching(strange):
            tls.tls.do_handshake()
    except PENDING:
        tls.push()
        return False
    except ssl.SSLError:
        with suppress(OSError):
            tls.push()  # sends the alert
        if strange:
            raise HandshakeError(f"it asked for host {strange[0]!r} (SNI), which is no name") from None
        raise
    tls.push()
    return True


@contextmanager
def _catching(strange: list[bytes]) -> Iterator[None]:
    """Catch what `ssl` would write of names that it cannot read."""
    usual = sys.unraisablehook

    def hook(raised: sys.UnraisableHookArgs) -> None:
        if isinstance(raised.exc_value, UnicodeDecodeError) and isinstance(raised.object, bytes):
            strange.append(raised.object)
        else:
            usual(raised)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = usual


async def _move(tls: TlsSocket) -> None:
    """Wait until more bytes come, or until ours are sent."""
    if tls.stuck:
        await trio.lowlevel.wait_writable(tls.fileno())
        tls.push()
        return
    await trio.lowlevel.wait_readable(tls.fileno())
    before = tls.received
    with suppress(BlockingIOError):
        tls.fill()
        if tls.received == before:
            raise HandshakeError("it closed the connection")
    if tls.received > MOST:
        raise HandshakeError(f"more than {MOST >> 10} KiB before it was done")
