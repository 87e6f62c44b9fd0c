"""Read buffer: the memory that every socket is read into, and from which data is sent on without a copy.

Rules:
* One buffer serves all links. It starts at an offset within a page, since copying from a page-aligned source to a
  destination a few bytes off is 15 times slower on some processors. Each room starts at a line of the cache: 16 bytes
  off, sending 1 MiB takes a fifth longer.
* Posted data stays where it was read until it is delivered. The next read goes into the next room. When the last room
  is taken, everything is delivered. The rooms overlap and are made once: making one for each read takes 0.1 us.
* If delivering to one side fails, `failed` is called for it, and the other sides still get their data.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from proxy.net.backlog import BUFFER
from proxy.net.side import Side
from proxy.protocol.frame import Buffer

PAGE = 4096
ODD = 2048 + 64
SMALL = 8 << 10  # bytes that are sent together with those of other links
STEP = SMALL + 192  # between two rooms: with whole pages, all would share the same lines of the cache
ROOMS = 64


class ReadBuffer:
    """The buffer of one reactor. `failed` is called with a side whose `send` raised."""

    def __init__(self, failed: Callable[[Side, Exception], None]) -> None:
        self._failed = failed
        lent = memoryview(bytearray(ROOMS * STEP + BUFFER + 2 * PAGE))
        start = -_address(lent) % PAGE + ODD
        self._rooms = [lent[at : at + BUFFER] for at in range(start, start + ROOMS * STEP, STEP)]
        self.room = self._rooms[0]  # where the next read goes; posted data lies in the rooms before it
        self._posted: list[tuple[Side, Buffer]] = []

    def post(self, side: Side, data: Buffer) -> None:
        """Send this soon, together with data of other links. It was read into `room`, and is `SMALL`."""
        posted = self._posted
        posted.append((side, data))
        if len(posted) < ROOMS:
            self.room = self._rooms[len(posted)]
        else:
            self.deliver()

    def deliver(self) -> None:
        """Send all posted data."""
        if not self._posted:
            return
        posted, self._posted, self.room = self._posted, [], self._rooms[0]
        for side, data in posted:
            try:
                side.send(data)
            except Exception as error:  # the error concerns this side only, and the caller is another one
                self._failed(side, error)


def _address(memory: memoryview) -> int:
    """The address of these bytes."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
