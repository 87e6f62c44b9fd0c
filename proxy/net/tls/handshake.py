"""The handshake: from a connection to one that is sealed, or one reason why not.

Rules:
* It is the only part of TLS that waits, in the task that dials; once it is done, the reactor serves the socket.
* Until it is done nobody is known: time and bytes are limited. Whoever calls limits how many there are at once.
* Where TLS has an alert for what is wrong, the other side gets it.
"""

from __future__ import annotations

import ssl
from contextlib import suppress

import trio

from proxy.net.tls.sockets import PENDING, TlsSocket

MOST = 128 << 10  # bytes; long chains of certificates have 16 KiB
SAYINGS = {
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": "it showed no certificate, and must (client_auth)",
    "UNSUPPORTED_PROTOCOL": "it speaks no version of TLS that is allowed here (versions)",
    "NO_SHARED_CIPHER": "no cipher is known to both sides",
    "TLSV1_ALERT_UNKNOWN_CA": "it does not trust the authority of our certificate",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "it does not accept our certificate",
    "SSLV3_ALERT_BAD_CERTIFICATE": "it does not accept our certificate",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "it takes our certificate for expired",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "it wants a certificate of ours",
    "TLSV1_UNRECOGNIZED_NAME": "it knows no host of this name",
    "WRONG_VERSION_NUMBER": "it does not speak TLS",
    "HTTPS_PROXY_REQUEST": "it speaks HTTP, not TLS",
    "HTTP_REQUEST": "it speaks HTTP, not TLS",
    "RECORD_LAYER_FAILURE": "it does not speak TLS",
}


class HandshakeError(Exception):
    """No TLS with the other side: why. `limit`: the limit that was met, if one was."""

    def __init__(self, why: str, limit: str | None = None) -> None:
        super().__init__(why)
        self.limit = limit


async def shake_hands(tls: TlsSocket, seconds: float) -> None:
    """Do the handshake. Raises HandshakeError."""
    try:
        with trio.fail_after(seconds):
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
    """Go on with what is there. True: done."""
    try:
        tls.tls.do_handshake()
    except PENDING:
        tls.push()
        return False
    except ssl.SSLError:
        with suppress(OSError):
            tls.push()  # the alert
        raise
    tls.push()
    return True


async def _move(tls: TlsSocket) -> None:
    """Wait for more to come, or for what we said to leave."""
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


def described(error: ssl.SSLError, began: bytes) -> str:
    """What went wrong, in words. `began`: how the other side began."""
    if began[:1] == b"\0":
        return "it speaks Kafka without TLS; let it use SSL (security.protocol), or a listener without tls"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {error.verify_message}"
    reason = error.reason or ""
    return SAYINGS.get(reason, reason.replace("_", " ").lower() or str(error))
