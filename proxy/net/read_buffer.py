"""Read buffer: the memory that every socket is read into, and from which data is sent on without a copy.

Rules:
* One buffer serves all links. It starts at an offset within a page, since copying from a page-aligned source to a
  destination a few bytes off is 15 times slower on some processors.
* Posted data stays where it was read until it is delivered. The next read goes behind it. If less than a whole read
  would then fit, everything is delivered first.
* If delivering to one side fails, `failed` is called for it, and the other sides still get their data.
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
    """The buffer of one reactor. `failed` is called with a side whose `send` raised."""

    def __init__(self, failed: Callable[[Side, Exception], None]) -> None:
        self._failed = failed
        lent = memoryview(bytearray(2 * BUFFER + 2 * PAGE))
        start = -_address(lent) % PAGE + ODD
        self._whole = lent[start : start + 2 * BUFFER]
        self.room = self._whole  # where the next read goes; posted data lies before it
        self._posted: list[tuple[Side, Buffer]] = []

    def post(self, side: Side, data: Buffer, count: int) -> None:
        """Send this soon, together with data of other links. The buffer's next `count` bytes must stay as they are."""
        self._posted.append((side, data))
        self.room = self.room[count:]
        if len(self.room) < BUFFER:
            self.deliver()

    def deliver(self) -> None:
        """Send all posted data."""
        if not self._posted:
            return
        posted, self._posted, self.room = self._posted, [], self._whole
        for side, data in posted:
            try:
                side.send(data)
            except Exception as error:  # the error concerns this side only, and the caller is another one
                self._failed(side, error)


def _address(memory: memoryview) -> int:
    """The address of these bytes."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
