"""TlsSocket: a socket whose bytes are sealed, for whoever expects a plain non-blocking one.

Rules:
* Nothing waits: what cannot go on raises BlockingIOError, as a socket does. What is wrong is an OSError.
* With TLS 1.3 a client is done with the handshake before its certificate is looked at: the alert comes when it reads.
* `recv_into` that comes back short has read all that the socket had, as with a plain one: a reactor with edge-triggered
  events relies on it.
* `send` says that bytes are sent when they left, sealed. Those that were sealed and did not leave are to be sent again,
  and are not sealed again; so what is kept for a stalled socket is one portion.
* The end of the stream is the end of the socket or of TLS, whichever comes first: Kafka's frames say their own length.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress

from proxy.net.tls.sayings import TlsError, described
from proxy.protocol.frame import Buffer

PORTION = 64 << 10  # sealed or opened at a time: OpenSSL keeps buffers as large as they ever were
PENDING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)

# What a socket reads, sealed, on its way to be opened. All links are served in turn, by one thread.
_arriving = memoryview(bytearray(PORTION))


class TlsSocket:
    """One socket with TLS; `context` says as whom, `host` is the name of the server where we are the client."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, host: str | None = None) -> None:
        self._sock = sock
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_side=host is None, server_hostname=host)
        self._unsent: Buffer = b""  # sealed, not taken by the socket yet
        self._sealed = 0  # bytes that were not said to be sent, and are in `_unsent`
        self._over = False
        self.received = 0  # sealed bytes
        self.began = b""  # the first few of them

    def fileno(self) -> int:
        """The socket's."""
        return self._sock.fileno()

    def setblocking(self, flag: bool) -> None:
        """As a socket's; it never blocks."""
        self._sock.setblocking(flag)

    def setsockopt(self, level: int, option: int, value: int) -> None:
        """As a socket's."""
        self._sock.setsockopt(level, option, value)

    @property
    def ahead(self) -> bool:
        """Did more arrive than was read? No event will tell of it."""
        return bool(self._incoming.pending or self.tls.pending())

    def recv_into(self, room: memoryview, most: int) -> int:
        """Read up to `most` bytes; 0: it has ended."""
        count, more = 0, True
        while count < most and not self._over:
            if self.ahead:
                try:
                    got = int(self.tls.read(most - count, room[count:most]))
                except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                    self._over = True
                    break
                except ssl.SSLWantReadError:
                    pass  # a part of a record
                except ssl.SSLError as error:
                    raise TlsError(described(error, self.began)) from None
                else:
                    count += got
                    continue
            if not more and count:
                break
            try:
                more = self.fill()
            except BlockingIOError:
                break
        if not count and not self._over:
            raise BlockingIOError
        return count

    def fill(self) -> bool:
        """Take what the socket has. False: that was all."""
        arrived = self._sock.recv_into(_arriving)
        if not arrived:
            self._incoming.write_eof()
            self._over = not self._incoming.pending
            return False
        if not self.received:
            self.began = bytes(_arriving[: min(arrived, 4)])
        self.received += arrived
        self._incoming.write(_arriving[:arrived])
        return arrived == len(_arriving)

    def send(self, data: Buffer) -> int:
        """Send some of this. What was not said to be sent must come again, first."""
        self.push()
        if self._unsent:
            raise BlockingIOError
        sent = min(self._sealed, len(data))
        self._sealed -= sent
        view = memoryview(data)
        while sent < len(view):
            portion = view[sent : sent + PORTION]
            sealed = 0
            while sealed < len(portion):
                sealed += self.tls.write(portion[sealed:])
            self.push()
            if self._unsent:
                self._sealed = len(portion)
                break
            sent += len(portion)
        return sent

    def push(self) -> None:
        """Send what is sealed, as far as the socket takes it."""
        if self._outgoing.pending:
            sealed = self._outgoing.read()
            self._unsent = bytes(self._unsent) + sealed if self._unsent else sealed
        if self._unsent:
            with suppress(BlockingIOError):
                self._unsent = memoryview(self._unsent)[self._sock.send(self._unsent) :]

    def sendmsg(self, pieces: list[Buffer]) -> int:
        """As `send`, of several pieces."""
        return self.send(b"".join(pieces))

    @property
    def stuck(self) -> bool:
        """Is something sealed that the socket does not take?"""
        return bool(self._unsent)

    def close(self) -> None:
        """Say goodbye, where that is possible at once, and close the socket."""
        with suppress(OSError, ValueError):
            if not self._unsent:
                with suppress(*PENDING):
                    self.tls.unwrap()
                self.push()
        self._sock.close()
