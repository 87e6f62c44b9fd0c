"""Records: what arrives from a peer is given to OpenSSL a bounded number of records at a time.

OpenSSL opens all records that it has until it finds data. A key update takes 11 us, and 23 us if the peer asks for one
in return. So 64 KiB of key updates, which are 2,400 records, would hold up everybody for 52 ms.

Rules:
* A record counts from when its head is there. Its other bytes are given as they come.
* Bytes after the last record that may be given are kept, and so is a head of which a part is missing.
* The bytes of a peer that does not speak TLS are given as if they were records: OpenSSL refuses the first head.
"""

from __future__ import annotations

import ssl
from struct import Struct

# Records in one read: 1 to 2 ms of key updates. 1 MiB of data, in the longest records, is 64 of them.
RECORDS = 80
HEAD = Struct("!3xH")  # type and version, which do not matter here, and the length (RFC 8446, 5.1)
SIZE = HEAD.size
NOTHING = memoryview(b"")


class Incoming:
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
