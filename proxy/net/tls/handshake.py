"""The handshake: from a connection to an encrypted one, or to one reason why not.

Rules:
* It is the only part of TLS that waits, in the task that dials. Once it is done, the reactor serves the socket.
* Before it is done the peer is unknown, so time, bytes and records are limited. The caller limits the number of
  handshakes. Many that can go on at once take turns (`taking_turns.py`).
* A hello in the form of SSL 2 is refused, though OpenSSL takes it: its record cannot be counted.
* Where TLS has an alert for what is wrong, the other side gets it.
* A server that speaks TLS 1.3 has only tickets to send when the handshake is done. They leave with its first answer,
  or its close_notify: sent alone, they cost a system call and wake the client for nothing.
* Nothing that a client says is written anywhere but in that one reason: `ssl` itself writes a traceback to standard
  error for every name (SNI) that is not ASCII.
"""

from __future__ import annotations

import ssl
import sys
from contextlib import suppress
from functools import partial

import trio

from proxy.net.tls.records import RECORDS
from proxy.net.tls.sayings import described
from proxy.net.tls.sockets import PENDING, TlsSocket
from proxy.net.tls.taking_turns import HandshakeTurns

MOST = 128 << 10  # bytes; long certificate chains have 16 KiB
SSL2 = 0x80  # a bit of the first byte

_turns = HandshakeTurns()  # one thread does all handshakes


class HandshakeError(Exception):
    """TLS with the peer failed, and why. `limit`: the limit that was reached, if any."""

    def __init__(self, why: str, limit: str | None = None) -> None:
        super().__init__(why)
        self.limit = limit


class SilentError(HandshakeError):
    """A client left without a byte. A load balancer that looks whether the port is open does so: no fault."""


async def shake_hands(tls: TlsSocket, seconds: float) -> None:
    """Do the handshake. Raises HandshakeError."""
    try:
        with trio.CancelScope(deadline=trio.current_time() + seconds):
            await _shake(tls)
            return
    except ssl.SSLError as error:
        raise HandshakeError(described(error, tls.began)) from None
    except OSError as error:
        why = f"the connection broke: {error.strerror or error}"
        raise (SilentError if _was_silent(tls) else HandshakeError)(why) from None
    raise HandshakeError(f"not done within {round(seconds, 2):g} s", "handshake")


def _was_silent(tls: TlsSocket) -> bool:
    """Is it a client that has sent nothing?"""
    return tls.tls.server_side and not tls.received


async def _shake(tls: TlsSocket) -> None:
    # If many clients come at once, the first bytes of each are there before its turn comes.
    while not await _turns.run(partial(_go_on, tls)):
        await (trio.lowlevel.wait_writable if tls.outgoing.unsent else trio.lowlevel.wait_readable)(tls.fileno())
    while tls.outgoing.unsent:
        await trio.lowlevel.wait_writable(tls.fileno())
        tls.outgoing.push()


def _go_on(tls: TlsSocket) -> bool:
    """Send what is left, and continue with the bytes that came. Returns whether the handshake is done."""
    if tls.outgoing.unsent:
        tls.outgoing.push()
    if tls.outgoing.unsent or (not _take(tls) and tls.tls.server_side):  # a client begins without bytes
        return False
    return _step(tls)


def _step(tls: TlsSocket) -> bool:
    """Have OpenSSL continue. Returns whether the handshake is done."""
    strange: list[bytes] = []
    try:
        with StrangeNames(strange):
            tls.tls.do_handshake()
    except PENDING:
        tls.outgoing.push()
        return False
    except ssl.SSLError:
        with suppress(OSError):
            tls.outgoing.push()  # sends the alert
        if strange:
            raise HandshakeError(f"it asked for host {strange[0]!r} (SNI), which is no name") from None
        raise
    if not (tls.tls.server_side and tls.tls.version() == "TLSv1.3"):
        tls.outgoing.push()
    return True


class StrangeNames:
    """Catches what `ssl` would write of names that it cannot read; these are put into `found`."""

    __slots__ = ("_found", "_usual")

    def __init__(self, found: list[bytes]) -> None:
        self._found = found

    def __enter__(self) -> None:
        self._usual, sys.unraisablehook = sys.unraisablehook, self._hook

    def __exit__(self, *raised: object) -> None:
        sys.unraisablehook = self._usual

    def _hook(self, raised: sys.UnraisableHookArgs) -> None:
        if isinstance(raised.exc_value, UnicodeDecodeError) and isinstance(raised.object, bytes):
            self._found.append(raised.object)
        else:
            self._usual(raised)


def _take(tls: TlsSocket) -> bool:
    """Take the bytes that came. Returns whether there were any."""
    if tls.overfull:
        raise HandshakeError(f"more than {RECORDS} records before it was done")
    before = tls.received
    try:
        tls.fill()
    except BlockingIOError:
        return False
    if tls.received == before:
        raise (SilentError if _was_silent(tls) else HandshakeError)("it closed the connection")
    if tls.began[0] & SSL2:
        raise HandshakeError("it does not speak TLS")
    if tls.received > MOST:
        raise HandshakeError(f"more than {MOST >> 10} KiB before it was done")
    return True
