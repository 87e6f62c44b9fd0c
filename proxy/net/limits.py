"""Time limits: connections that take too long are looked for, a few times in the shortest limit, and ended.

Rules:
* A new connection has `first_frame` until its first whole request, whatever it sends before.
* After that it may pass nothing in either direction for `idle`.
* No timer belongs to a connection: with ten thousand of them one look at all costs 2 ms, a timer for each far more.
"""

from collections.abc import Collection
from typing import Protocol, TypeVar

import trio

from proxy.config import Limits
from proxy.telemetry.counters import Counters

LONGEST_LOOK = 1.0  # seconds between two looks
LOOKS = 4  # at the least, within the shortest limit


class Timed(Protocol):
    """A connection as the limits see it; times are trio's."""

    opened: float
    active: float  # when either side said something last

    @property
    def begun(self) -> bool:
        """Did a whole request come?"""

    def abort(self, reason: str | None = None) -> None:
        """End it now."""


T = TypeVar("T", bound=Timed)


async def enforce(limits: Limits, connections: Collection[T], counters: Counters) -> None:
    """End whatever takes too long, until cancelled. `connections` may change meanwhile."""
    every = min(LONGEST_LOOK, min(limits.first_frame, limits.idle) / LOOKS)
    while True:
        await trio.sleep(every)
        now = trio.current_time()
        for connection in list(connections):
            if now - connection.active >= limits.idle:
                counters.idle += 1
                connection.abort(f"nothing passed for {limits.idle:g} s (limits.idle)")
            elif now - connection.opened >= limits.first_frame and not connection.begun:
                counters.late_first_frame += 1
                connection.abort(f"no request within {limits.first_frame:g} s (limits.first_frame)")
