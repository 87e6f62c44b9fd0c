"""Read buffer: the memory that every socket is read into, and what is sent on from where it lies.

Rules:
* One buffer serves all links. It starts off a page's beginning, since copying from a page-aligned source to a
  destination a few bytes off is 15 times slower on some processors.
* What is posted stays where it was read until it is delivered; the next read goes behind it. Where that would leave
  less than a whole read, everything is delivered first.
* A side that fails when it is delivered to is told of, and the others still get what is theirs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from proxy.net.backlog import BUFFER
from proxy.net.side import Side
from proxy.protocol.frame import Buffer

PAGE = 4096
ODD = 2048 + 16


class ReadBuffer:
    """The buffer of one reactor; `failed` is told of a side whose `send` raised."""

    def __init__(self, failed: Callable[[Side, Exception], None]) -> None:
        self._failed = failed
        lent = memoryview(bytearray(2 * BUFFER + 2 * PAGE))
        start = -_address(lent) % PAGE + ODD
        self._whole = lent[start : start + 2 * BUFFER]
        self.room = self._whole  # where the next read goes; what lies before it was posted
        self._posted: list[tuple[Side, Buffer]] = []

    def post(self, side: Side, data: Buffer, count: int) -> None:
        """Send this soon, with what the other links have to send: `count` bytes of the buffer stay as they are."""
        self._posted.append((side, data))
        self.room = self.room[count:]
        if len(self.room) < BUFFER:
            self.deliver()

    def deliver(self) -> None:
        """Send what was posted."""
        if not self._posted:
            return
        posted, self._posted, self.room = self._posted, [], self._whole
        for side, data in posted:
            try:
                side.send(data)
            except Exception as error:  # of this side alone: whoever has this delivered is another
                self._failed(side, error)


def _address(memory: memoryview) -> int:
    """Where these bytes lie."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
