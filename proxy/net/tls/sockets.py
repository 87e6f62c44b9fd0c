"""TlsSocket: a TLS connection with the interface of a plain non-blocking socket.

Rules:
* Nothing waits: an operation that cannot proceed raises BlockingIOError, as with a socket. Errors are OSErrors.
* With TLS 1.3 a client finishes the handshake before its certificate is checked: the alert comes when it reads.
* A short `recv_into` has read all that the socket had, as with a plain one. A reactor with edge-triggered events relies
  on that. If there may be more nevertheless, `rest` says so: one call opens a bounded number of records (`records.py`).
* A peer that sends only records without data, such as key updates, is ended. OpenSSL and BoringSSL have the same limit
  for those that they count.
* `send` reports bytes as sent when they have left, encrypted. Encrypted bytes that have not left must be passed again,
  and are not encrypted again. So a stalled socket keeps one portion.
* The stream ends when the socket or TLS ends, whichever comes first. That is safe, because Kafka's frames have lengths.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress

from proxy.net.tls.records import RECORDS, IncomingRecords, OutgoingRecords
from proxy.net.tls.sayings import BarrenError, TlsError, described
from proxy.protocol.frame import Buffer

# Bytes at a time. Each connection keeps its buffers at their largest size. Encrypting half as much costs 15 % more.
OPENED = 64 << 10
SEALED = 128 << 10
RECORD = (16 << 10) + 5 + 256  # the longest record
BARREN = 32  # records without data, in a row
PENDING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)

# Encrypted bytes from a socket, before decryption. One thread serves all links in turn, so they can share it.
_arriving = memoryview(bytearray(OPENED))


class TlsSocket:
    """One socket with TLS. `context` has the certificates. `host` is the name of the server, if we are the client."""

    __slots__ = ("_barren", "_incoming", "_over", "_sealed", "_sock", "began", "outgoing", "received", "rest", "tls")

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, host: str | None = None) -> None:
        self._sock = sock
        self._incoming, self.outgoing = incoming, outgoing = IncomingRecords(), OutgoingRecords(sock)
        self.tls = context.wrap_bio(incoming.bio, outgoing.bio, server_side=host is None, server_hostname=host)
        self._sealed = 0  # bytes that were not said to be sent, and are in `outgoing`
        self._barren = 0  # records since the last data
        self.rest = True  # there may be something to read, and no event will tell of it
        self._over = False
        self.received = 0  # encrypted bytes so far
        self.began = b""  # the first few of these

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._sock.fileno()

    def setsockopt(self, level: int, option: int, value: int | bytes) -> None:
        """As a socket's."""
        self._sock.setsockopt(level, option, value)

    def shutdown(self, how: int) -> None:
        """As a socket's, without closing TLS."""
        self._sock.shutdown(how)

    @property
    def ahead(self) -> bool:
        """Has more arrived than was read? No event will tell of that."""
        return bool(self._incoming.held or self.tls.pending())

    @property
    def overfull(self) -> bool:
        """Have more records arrived than may be opened at a time?"""
        return self._incoming.waits

    @property
    def held(self) -> int:
        """How many bytes wait here: unread ones, and encrypted ones that the socket has not taken."""
        return self._incoming.held + self.outgoing.held

    def recv_into(self, room: memoryview, most: int) -> int:
        """Read up to `most` bytes. 0: the stream has ended."""
        if self._over:
            return 0
        incoming, bio, count = self._incoming, self._incoming.bio, 0
        incoming.left = RECORDS
        more = self.rest or self.fill()  # with a rest: the event that led here may tell of more
        self.rest = False
        while not self._over:
            try:
                got: int = self.tls.read(most - count, room[count:] if count else room)  # type: ignore[assignment]
            except ssl.SSLWantReadError:
                pass  # a part of a record, or nothing
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
                    self.rest = True
                    break
                if bio.pending >= (RECORD if more and incoming.left else 1):
                    continue
            if not (more and incoming.left):
                self.rest = not incoming.left or not count  # a part of a record ends the call, or it might last long
                break
            try:
                more = self.fill()
            except BlockingIOError:
                if not count:
                    break
                more = False
        if not count and not self._over:
            self._barren += RECORDS - incoming.left
            if self._barren > BARREN:
                raise BarrenError(f"more than {BARREN} TLS records in a row without data")
            raise BlockingIOError
        self._barren = 0
        return count

    def _goodbye(self) -> None:
        """The peer closed TLS, and may wait for us to do the same. Later bytes are ignored."""
        self._over = True
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RD)  # the end then makes an event, as with a plain socket

    def fill(self) -> bool:
        """Take what the socket has. False: there is no more now."""
        if self._incoming.waits:
            self._incoming.give()
            return True
        arrived = self._sock.recv_into(_arriving)
        if not arrived:
            self._incoming.bio.write_eof()
            self._over = not self._incoming.bio.pending
            return False
        if not self.received:
            self.began = bytes(_arriving[: min(arrived, 4)])
        self.received += arrived
        self._incoming.give(_arriving[:arrived])
        return arrived == OPENED

    def send(self, data: Buffer) -> int:
        """Send some of this. Bytes that are not reported as sent must be passed first next time."""
        outgoing = self.outgoing
        if outgoing.unsent:
            outgoing.push()
            if outgoing.unsent:
                raise BlockingIOError
        size, sent = len(data), 0
        if self._sealed:
            sent = min(self._sealed, size)
            self._sealed -= sent
        while sent < size:
            portion = data if size <= SEALED and not sent else memoryview(data)[sent : sent + SEALED]
            self.tls.write(portion)  # all of it, into memory
            outgoing.push()
            if outgoing.unsent:
                self._sealed = len(portion)
                break
            sent += len(portion)
        return sent

    def sendmsg(self, pieces: list[Buffer]) -> int:
        """As `send`, for several pieces. Long ones are not joined by copying."""
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

    def close(self) -> None:
        """Close TLS, if that is possible at once, and close the socket."""
        with suppress(OSError, ValueError):
            if not self.outgoing.unsent:
                with suppress(*PENDING):
                    self.tls.unwrap()
                self.outgoing.push()
        self._sock.close()
