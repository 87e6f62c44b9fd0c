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

# At a time; each connection keeps buffers as large as they ever were. Sealing half as much costs 15 % more.
OPENED = 64 << 10
SEALED = 128 << 10
RECORD = (16 << 10) + 5 + 256  # the longest
PENDING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)

# What a socket reads, sealed, on its way to be opened. All links are served in turn, by one thread.
_arriving = memoryview(bytearray(OPENED))


class TlsSocket:
    """One socket with TLS; `context` says as whom, `host` is the name of the server where we are the client."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, host: str | None = None) -> None:
        self._sock = sock
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_side=host is None, server_hostname=host)
        self._unsent: Buffer = b""  # sealed, not taken by the socket yet
        self._sealed = 0  # bytes that were not said to be sent, and are in `_unsent`
        self._rest = True  # there may be something to read without more from the socket
        self._over = False
        self.received = 0  # sealed bytes
        self.began = b""  # the first few of them

    def fileno(self) -> int:
        """The socket's."""
        return self._sock.fileno()

    def setblocking(self, flag: bool) -> None:
        """As a socket's; it never blocks."""
        self._sock.setblocking(flag)

    def setsockopt(self, level: int, option: int, value: int | bytes) -> None:
        """As a socket's."""
        self._sock.setsockopt(level, option, value)

    def shutdown(self, how: int) -> None:
        """As a socket's, without the goodbye of TLS."""
        self._sock.shutdown(how)

    @property
    def ahead(self) -> bool:
        """Did more arrive than was read? No event will tell of it."""
        return bool(self._incoming.pending or self.tls.pending())

    @property
    def held(self) -> int:
        """Bytes that wait in here: not read yet, or sealed and not taken by the socket."""
        return self._incoming.pending + len(self._unsent)

    def recv_into(self, room: memoryview, most: int) -> int:
        """Read up to `most` bytes; 0: it has ended."""
        if self._over:
            return 0
        count, more = 0, self._rest or self.fill()
        self._rest = False
        while not self._over:
            try:
                got = int(self.tls.read(most - count, room[count:] if count else room))
            except ssl.SSLWantReadError:
                pass  # a part of a record, or none
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                self._goodbye()
                break
            except ssl.SSLError as error:
                raise TlsError(described(error, self.began)) from None
            else:
                count += got
                if not got:
                    self._goodbye()
                    break
                if count == most:
                    self._rest = True
                    break
                if self._incoming.pending >= (RECORD if more else 1):
                    continue
            if count and not more:
                break
            try:
                more = self.fill()
            except BlockingIOError:
                if not count:
                    raise
                more = False
        return count

    def _goodbye(self) -> None:
        """The other side said that it ends, and may wait for us to say so too. What follows is nothing to us."""
        self._over = True
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RD)  # so that the end makes an event, as with a plain socket

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
        return arrived == OPENED

    def send(self, data: Buffer) -> int:
        """Send some of this. What was not said to be sent must come again, first."""
        if self._unsent:
            self.push()
            if self._unsent:
                raise BlockingIOError
        size, sent = len(data), 0
        if self._sealed:
            sent = min(self._sealed, size)
            self._sealed -= sent
        while sent < size:
            portion = data if size <= SEALED and not sent else memoryview(data)[sent : sent + SEALED]
            self.tls.write(portion)  # all of it: memory has room
            self.push()
            if self._unsent:
                self._sealed = len(portion)
                break
            sent += len(portion)
        return sent

    def push(self) -> None:
        """Send what is sealed, as far as the socket takes it."""
        sealed: Buffer = self._outgoing.read()
        if self._unsent:
            sealed = bytes(self._unsent) + bytes(sealed)
        if sealed:
            try:
                sent = self._sock.send(sealed)
            except BlockingIOError:
                sent = 0
            self._unsent = memoryview(sealed)[sent:] if sent < len(sealed) else b""

    def sendmsg(self, pieces: list[Buffer]) -> int:
        """As `send`, of several pieces. Long ones are not copied to be one."""
        if sum(map(len, pieces)) <= SEALED:
            return self.send(b"".join(pieces))
        sent = 0
        for piece in pieces:
            try:
                taken = self.send(piece)
            except BlockingIOError:
                if not sent:
                    raise
                break
            sent += taken
            if taken < len(piece):
                break
        return sent

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
