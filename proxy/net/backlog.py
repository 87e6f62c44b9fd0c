"""Backlog: bytes that a socket has not taken yet, in the order in which they are to be sent.

# A backlog is the rest of one buffer, or of one pipe. While there is one, nothing is read that would have to follow it.
# Bytes that were read are only lent, so they are copied to be kept. They are never longer than `BUFFER`. Longer pieces
# are kept without a copy: copying 100 MiB takes 100 ms.
"""

from __future__ import annotations

from collections.abc import Callable

from proxy.net.pipes import Pipe
from proxy.protocol.frame import Buffer

BUFFER = 256 << 10  # bytes that are read at a time, at most


class Backlog:
    """The bytes that wait for one socket. The bytes in `pipe` leave before the pieces."""

    __slots__ = ("_pieces", "pipe")

    def __init__(self) -> None:
        self._pieces: list[Buffer] = []
        self.pipe: Pipe | None = None

    @property
    def size(self) -> int:
        """How many bytes wait."""
        return sum(map(len, self._pieces)) + (self.pipe.held if self.pipe is not None else 0)

    @property
    def held(self) -> int:
        """How many bytes of memory it takes. A part of a frame keeps the whole frame in memory."""
        whole = {id(found): found for each in self._pieces if (found := getattr(each, "obj", each)) is not None}
        return sum(map(len, whole.values())) + (self.pipe.held if self.pipe is not None else 0)

    def keep(self, data: Buffer, sent: int) -> None:
        """Keep everything after the first `sent` bytes."""
        rest = memoryview(data)[sent:]
        self._pieces.append(bytes(rest) if len(rest) <= BUFFER else rest)

    def flush(self, fd: int, write: Callable[[Buffer], int]) -> bool:
        """Send what the socket takes. Returns whether that was everything."""
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
        """Discard everything."""
        if self.pipe is not None:
            self.pipe.release()
            self.pipe = None
        self._pieces.clear()
