"""Time limits: connections that take too long are looked for, a few times in the shortest limit, and ended.

Rules:
* A new connection has `first_frame` until its first whole request, whatever it sends before.
* After that it may pass nothing in either direction for `idle`. With TLS what cannot be read yet is nothing. It is no
  fault to be idle: brokers end such connections too, and clients come back when they have something to ask.
* A frame that began, from either side, goes on at 64 KiB a second, and falls behind by `frame_time` at the most. Time
  in which we do not read it is not counted.
* What is kept for a side that did not take it leaves at that rate too, and falls behind by `take_time` at the most.
* No timer belongs to a connection: with ten thousand of them one look at all costs 2 ms, a timer for each far more.
  Nor is anything noted when a frame begins: where it ends in the stream tells the next look whether it is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol

import trio

from proxy.config import LimitOptions
from proxy.telemetry.counters import NetworkCounters

LONGEST_LOOK = 1.0  # seconds between two looks
LOOKS = 4  # at the least, within the shortest limit
RATE = 64 << 10  # bytes a second


class TimedSide(Protocol):
    """One side of a connection as the limits see it."""

    received: int  # bytes, since the start
    blocked: int  # it is not read
    stalled: bool  # something is kept that it did not take
    stalls: int  # how often that began

    @property
    def lacking(self) -> int:
        """Bytes that are to come of the frame that began."""

    @property
    def kept(self) -> int:
        """Bytes that it did not take."""


class Timed(Protocol):
    """A connection as the limits see it; times are trio's."""

    opened: float
    active: float  # when bytes were last seen to have moved, and what `moved` was then
    seen: int

    @property
    def moved(self) -> int:
        """A number that changes with every byte that came or left."""

    @property
    def begun(self) -> bool:
        """Did a whole request come?"""

    @property
    def client(self) -> TimedSide:
        """Who asks."""

    @property
    def broker(self) -> TimedSide:
        """Who answers."""

    def abort(self, reason: str | None = None, *, is_fault: bool = True) -> None:
        """End it now."""


class Pending(NamedTuple):
    """Something that goes on: as which, how many bytes are left of it, and until when more must have moved."""

    what: int
    left: int
    until: float


class Deadlines:
    """What was seen to go on in the last look, and in this one so far. None may fall behind by so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._last: dict[TimedSide, Pending] = {}
        self._this: dict[TimedSide, Pending] = {}

    def missed(self, side: TimedSide, what: int, left: int, now: float, paused: float = 0.0) -> bool:
        """Is this late? `what` is the same as long as it goes on, `left` its bytes, `paused` seconds not counted."""
        until = now + self.seconds
        before = self._last.get(side)
        if before is not None and before.what == what:
            until = min(until, before.until + paused + max(before.left - left, 0) / RATE)
        self._this[side] = Pending(what, left, until)
        return now >= until

    def looked(self) -> None:
        """All were looked at: what was not seen is over."""
        self._last, self._this = self._this, {}


class Watch:
    """Looks at all connections, again and again."""

    def __init__(self, limits: LimitOptions, counters: NetworkCounters) -> None:
        self._limits = limits
        self._counters = counters
        self._frames = Deadlines(limits.frame_time)
        self._backlogs = Deadlines(limits.take_time)

    def apply(self, limits: LimitOptions) -> None:
        """These limits are in force; what goes on already has no more time than it had."""
        self._limits = limits
        self._frames.seconds, self._backlogs.seconds = limits.frame_time, limits.take_time

    def look(self, connections: Collection[Timed], now: float, elapsed: float) -> None:
        """End whatever takes too long; the last look was so many seconds ago."""
        silent_since, opened = now - self._limits.idle, now - self._limits.first_frame
        for connection in list(connections):
            client, broker = connection.client, connection.broker
            reason = None
            moved = connection.moved
            if moved != connection.seen:
                connection.seen, connection.active = moved, now
            idle = connection.active <= silent_since
            if idle:
                self._counters.idle += 1
                reason = f"nothing passed for {self._limits.idle:g} s (limits.idle)"
            elif connection.opened <= opened and not connection.begun:
                self._counters.late_first_frame += 1
                reason = f"no request within {self._limits.first_frame:g} s (limits.first_frame)"
            elif client.lacking or broker.lacking or client.stalled or broker.stalled:
                reason = (
                    self._slow(client, "a request of the client", now, elapsed)
                    or self._slow(broker, "a response of the broker", now, elapsed)
                    or self._not_taking(client, "the client did not take its answers", now)
                    or self._not_taking(broker, "the broker did not take its requests", now)
                )
            if reason is not None:
                connection.abort(reason, is_fault=not idle)
        self._frames.looked()
        self._backlogs.looked()

    def _slow(self, side: TimedSide, what: str, now: float, elapsed: float) -> str | None:
        lacking = side.lacking
        if not lacking:
            return None
        paused = elapsed if side.blocked else 0.0
        if not self._frames.missed(side, side.received + lacking, lacking, now, paused):
            return None
        self._counters.slow_frames += 1
        return f"{what} was not whole in time (limits.frame_time)"

    def _not_taking(self, side: TimedSide, what: str, now: float) -> str | None:
        if not side.stalled or not self._backlogs.missed(side, side.stalls, side.kept, now):
            return None
        self._counters.not_taken += 1
        return f"{what} in time (limits.take_time)"


async def enforce(
    in_force: Callable[[], LimitOptions], connections: Collection[Timed], counters: NetworkCounters
) -> None:
    """End whatever takes too long, until cancelled. The limits that are `in_force` and `connections` may change."""
    watch = Watch(in_force(), counters)
    last = trio.current_time()
    while True:
        limits = in_force()
        watch.apply(limits)
        shortest = min(limits.first_frame, limits.idle, limits.frame_time, limits.take_time)
        await trio.sleep(min(LONGEST_LOOK, shortest / LOOKS))
        now = trio.current_time()
        watch.look(connections, now, now - last)
        last = now
