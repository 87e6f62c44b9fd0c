"""Backlog: what one socket has not taken yet, in the order in which it is to leave.

# It is the rest of one buffer, or one pipe: while there is a backlog, what would have to follow it is not read.
# What is read is only lent, and copied to be kept; it is never longer than `BUFFER`. Longer pieces are kept as they
# are: copying 100 MiB takes 100 ms.
"""

from __future__ import annotations

from collections.abc import Callable

from proxy.net.pipes import Pipe
from proxy.protocol.frame import Buffer

BUFFER = 256 << 10  # what is read at a time, at the most


class Backlog:
    """What waits for one socket. `pipe` leaves before the pieces."""

    __slots__ = ("_pieces", "pipe")

    def __init__(self) -> None:
        self._pieces: list[Buffer] = []
        self.pipe: Pipe | None = None

    @property
    def size(self) -> int:
        """Bytes that are to leave."""
        return sum(map(len, self._pieces)) + (self.pipe.held if self.pipe is not None else 0)

    @property
    def held(self) -> int:
        """Bytes of memory that it takes: a part of a frame keeps the whole of it."""
        whole = {id(found): found for each in self._pieces if (found := getattr(each, "obj", each)) is not None}
        return sum(map(len, whole.values())) + (self.pipe.held if self.pipe is not None else 0)

    def keep(self, data: Buffer, sent: int) -> None:
        """Keep what comes after the first `sent` bytes."""
        rest = memoryview(data)[sent:]
        self._pieces.append(bytes(rest) if len(rest) <= BUFFER else rest)

    def flush(self, fd: int, write: Callable[[Buffer], int]) -> bool:
        """Give the socket what it takes. True: that was all."""
        try:
            if self.pipe is not None:
                if not self.pipe.drain(fd, False):
                    return False
                self.pipe.release()
                self.pipe = None
            while self._pieces:
                piece = self._pieces[0]
                sent = write(piece)
                if sent < len(piece):
                    self._pieces[0] = memoryview(piece)[sent:]
                    return False
                del self._pieces[0]
        except BlockingIOError:
            return False
        return True

    def drop(self) -> None:
        """Nothing of it leaves any more."""
        if self.pipe is not None:
            self.pipe.release()
            self.pipe = None
        self._pieces.clear()
