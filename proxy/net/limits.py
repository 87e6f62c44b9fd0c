"""Time limits: finds connections that take too long, a few times within the shortest limit, and ends them.

Rules:
* A new connection must send its first whole request within `first_frame`, whatever it sends before that.
* After that it may be idle, in both directions, for `idle`. With TLS, bytes that cannot be decrypted yet do not count
  as traffic. An idle connection is no fault: brokers end such connections too, and clients reconnect when they need to.
* A frame that began, from either side, must arrive at 64 KiB a second. It may fall behind that by `frame_time`. Time in
  which we do not read it is not counted.
* Bytes that a side has not taken must leave at that rate too. They may fall behind it by `take_time`.
* Connections have no timers: with ten thousand connections one look at all costs 2 ms, a timer for each far more.
  Nothing is noted when a frame begins. The next look knows the frame again by the position of its end in the stream.
* A look at very many connections is done in slices, and so are the ends of those that are late: others run in between.
* If the process was stopped for a while, what came meanwhile is read before anybody is late, and what was under way has
  its time anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol

import trio

from proxy.config import LimitOptions
from proxy.net.time_slices import TimeSlice
from proxy.telemetry.counters import NetworkCounters

LONGEST_LOOK = 1.0  # seconds between two looks, at most
LOOKS = 4  # the least number of looks within the shortest limit
RATE = 64 << 10  # bytes a second
STOPPED = 2.0  # seconds by which a look is late only if the process was stopped: the reactor serves 5 ms at a time


class TimedSide(Protocol):
    """One side of a connection as the limits see it."""

    received: int  # bytes received since the start
    blocked: int  # not 0: it is not read
    stalled: bool  # some bytes that were sent to it wait
    stalls: int  # how often it began to stall

    @property
    def lacking(self) -> int:
        """How many bytes of the current frame are still to come."""

    @property
    def kept(self) -> int:
        """How many bytes wait that it has not taken."""


class Timed(Protocol):
    """A connection as the limits see it; times are trio's."""

    opened: float
    active: float  # when bytes were last seen to have moved; `seen` is the value of `moved` at that time
    seen: int

    @property
    def moved(self) -> int:
        """A number that changes with every byte received or sent."""

    @property
    def begun(self) -> bool:
        """Has a whole request come?"""

    @property
    def client(self) -> TimedSide:
        """The side that sends requests."""

    @property
    def broker(self) -> TimedSide:
        """The side that sends responses."""

    def abort(self, reason: str | None = None, *, is_fault: bool = True) -> None:
        """End it now."""


class Pending(NamedTuple):
    """Something under way: which one it is, how many of its bytes are left, and when the next must have moved."""

    what: int
    left: int
    until: float


class Deadlines:
    """What was under way at the last look, and at this one so far. It may fall behind by `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._last: dict[TimedSide, Pending] = {}
        self._this: dict[TimedSide, Pending] = {}

    def missed(self, side: TimedSide, what: int, left: int, now: float, paused: float = 0.0) -> bool:
        """Is it late? `what` identifies it, `left` is its remaining bytes, `paused` are seconds that do not count."""
        until = now + self.seconds
        before = self._last.get(side)
        if before is not None and before.what == what:
            until = min(until, before.until + paused + max(before.left - left, 0) / RATE)
        self._this[side] = Pending(what, left, until)
        return now >= until

    def looked(self) -> None:
        """A look at all connections is done. What it did not see is over."""
        self._last, self._this = self._this, {}


class Watch:
    """Looks at all connections."""

    def __init__(self, limits: LimitOptions, counters: NetworkCounters) -> None:
        self._limits = limits
        self._counters = counters
        self._frames = Deadlines(limits.frame_time)
        self._backlogs = Deadlines(limits.take_time)

    def apply(self, limits: LimitOptions) -> None:
        """Put these limits in force. What is already under way gets no more time than it had."""
        self._limits = limits
        self._frames.seconds, self._backlogs.seconds = limits.frame_time, limits.take_time

    async def look(self, connections: Collection[Timed], now: float, elapsed: float) -> None:
        """End all connections that take too long. `elapsed`: seconds since the last look."""
        silent_since, opened = now - self._limits.idle, now - self._limits.first_frame
        working = TimeSlice()
        for connection in tuple(connections):
            await working.let_others_run()
            if connection not in connections:
                continue  # it ended meanwhile
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
        self.looked()

    def looked(self) -> None:
        """A look is done. What it did not see has its time anew: after a look at nobody, all that is under way."""
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
    """End connections that take too long, until cancelled. `in_force` and `connections` may change meanwhile."""
    watch = Watch(in_force(), counters)
    last = trio.current_time()
    while True:
        limits = in_force()
        watch.apply(limits)
        shortest = min(limits.first_frame, limits.idle, limits.frame_time, limits.take_time)
        due = trio.current_time() + min(LONGEST_LOOK, shortest / LOOKS)
        await trio.sleep_until(due)
        now = trio.current_time()
        if now - due > STOPPED:
            watch.looked()
        else:
            await watch.look(connections, now, now - last)
        last = now
