"""Backlog: bytes that a socket has not taken yet, in the order in which they are to be sent.

Rules:
* A backlog is the rest of one buffer. While there is one, nothing is read that would have to follow it.
* Bytes that were read are only lent, so they are copied to be kept. They are never longer than `BUFFER`. Longer pieces
  are kept without a copy: copying 100 MiB takes 100 ms.
"""

from __future__ import annotations

from collections.abc import Callable

from proxy.protocol.frame import Buffer

BUFFER = 512 << 10  # bytes that are read at a time, at most


class Backlog:
    """The bytes that wait for one socket."""

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: list[Buffer] = []

    @property
    def size(self) -> int:
        """How many bytes wait."""
        return sum(map(len, self._pieces))

    @property
    def held(self) -> int:
        """How many bytes of memory it takes. A part of a frame keeps the whole frame in memory."""
        whole = {id(found): found for each in self._pieces if (found := getattr(each, "obj", each)) is not None}
        return sum(map(len, whole.values()))

    def keep(self, data: Buffer, sent: int) -> None:
        """Keep everything after the first `sent` bytes."""
        rest = memoryview(data)[sent:]
        self._pieces.append(bytes(rest) if len(rest) <= BUFFER else rest)

    def flush(self, write: Callable[[Buffer], int]) -> bool:
        """Send what the socket takes. Returns whether that was everything."""
        try:
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
        self._pieces.clear()
