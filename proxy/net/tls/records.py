"""Records: encrypted bytes on their way from a socket to OpenSSL, a bounded number of records at a time, and back.

OpenSSL opens all records that it has until it finds data. A key update takes 11 us, and 23 us if the peer asks for one
in return. So 64 KiB of key updates, which are 2,400 records, would hold up everybody for 52 ms.

Rules:
* A record counts from when its head is there. Its other bytes are given as they come.
* Bytes after the last record that may be given are kept, and so is a head of which a part is missing.
* The bytes of a peer that does not speak TLS are given as if they were records: OpenSSL refuses the first head.
* OpenSSL's own answers, for example to key updates, leave with the next data.
"""

from __future__ import annotations

import socket
import ssl
from struct import Struct

from proxy.protocol.frame import Buffer

# Records in one read: 1 to 2 ms of key updates. 1 MiB of data, in the longest records, is 64 of them.
RECORDS = 80
HEAD = Struct("!3xH")  # type and version, which do not matter here, and the length (RFC 8446, 5.1)
SIZE = HEAD.size
NOTHING = memoryview(b"")


class IncomingRecords:
    """The encrypted bytes of one peer. OpenSSL takes them from `bio`, and may still be given `left` records."""

    __slots__ = ("_due", "_kept", "bio", "left")

    def __init__(self) -> None:
        self.bio = ssl.MemoryBIO()
        self.left = RECORDS
        self._kept = b""
        self._due = 0  # bytes of the last record that are still to come

    @property
    def waits(self) -> bool:
        """Is there a record that may be given next, without more from the peer?"""
        return len(self._kept) >= SIZE

    @property
    def held(self) -> int:
        """How many bytes have come that OpenSSL has not taken."""
        return self.bio.pending + len(self._kept)

    def give(self, arrived: memoryview = NOTHING) -> None:
        """Give OpenSSL what was kept, and these bytes, which are only lent."""
        data = memoryview(self._kept + bytes(arrived)) if self._kept else arrived
        at, left, size = self._due, self.left, len(data)
        last = size - SIZE
        while at <= last and left:
            (length,) = HEAD.unpack_from(data, at)
            at += SIZE + length
            left -= 1
        self.left = left
        if at >= size:
            self._due, self._kept = at - size, b""
            self.bio.write(data)
        else:
            self._due, self._kept = 0, bytes(data[at:])
            self.bio.write(data[:at])


class OutgoingRecords:
    """The encrypted bytes for one peer. OpenSSL puts them into `bio`. The socket has not taken `unsent`."""

    __slots__ = ("_sock", "bio", "unsent")

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.bio = ssl.MemoryBIO()
        self.unsent: Buffer = b""

    @property
    def held(self) -> int:
        """How many bytes have not left."""
        return self.bio.pending + len(self.unsent)

    def push(self) -> None:
        """Send as much as the socket takes. Raises OSError."""
        sealed: Buffer = self.bio.read()
        if self.unsent:
            sealed = bytes(self.unsent) + bytes(sealed)
        if sealed:
            try:
                sent = self._sock.send(sealed)
            except BlockingIOError:
                sent = 0
            self.unsent = memoryview(sealed)[sent:] if sent < len(sealed) else b""
