"""Taking turns: many handshakes that can go on at the same moment do not hold up everything else.

A handshake takes about 1 ms of CPU time. trio runs all tasks that are ready before it looks at sockets again. So 500
clients that complete their first messages at the same moment would hold up the reactor for half a second.

Rules:
* After `SHARE` seconds of handshakes, all other tasks have their turn, and sockets are looked at. What follows a step,
  dialling a broker or closing the connection, is counted with `FOLLOWS`.
* Meanwhile the other handshakes wait in line. One wakes the next: if all woke up to look, that would take more time
  than the handshakes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import trio

SHARE = 0.002  # seconds
FOLLOWS = 0.0003  # seconds

T = TypeVar("T")


class HandshakeTurns:
    """The line of handshakes of one thread."""

    def __init__(self) -> None:
        self._line = trio.lowlevel.ParkingLot()
        self._spent = 0.0  # seconds since other tasks had their turn
        self._pauses = False

    async def run(self, step: Callable[[], T]) -> T:
        """Run this step of a handshake when its turn has come."""
        while self._spent >= SHARE:
            await (self._line.park() if self._pauses else self._pause())
        began = time.perf_counter()
        try:
            return step()
        finally:
            self._spent += time.perf_counter() - began + FOLLOWS
            self._line.unpark()

    async def _pause(self) -> None:
        """Let all other tasks have their turn."""
        self._pauses = True
        try:
            await trio.lowlevel.checkpoint()
        finally:
            self._pauses, self._spent = False, 0.0
            self._line.unpark()
