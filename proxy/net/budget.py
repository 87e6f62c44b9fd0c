"""Budget: bytes that all connections of a worker may hold together, so that none takes the memory of the others.

Counted is what grows with what is sent: frames that are assembled or wait for their handlers (with what those make of
them), answers that wait for older ones, what a socket has not taken, and what plugins note. What passes is not held.

Rules:
* From three quarters of the budget on, all connections forget what they can have again.
* Where that is not enough, a connection is not read that holds more than the average of those that hold anything, and
  more than a quarter of what the one with most holds. It is read again when others have let go of enough.
* Where that has not helped for 5 seconds, or the budget is spent, the connection that holds most is ended, then the
  next.
* Connections that hold less are never stopped by others.
* When much was let go, Python and the C library are told to give it back to the system, and once more when what was
  kept of it for the next objects is not used any more.
* Nothing is counted where bytes pass: connections are looked at a few times a second, and one that kept all of a chunk
  is looked at then. That takes a hundredth of the time, unless it is so long that they would be looked at too rarely.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from typing import Protocol

import trio

from proxy.net.machine import give_back

QUICKEST = 0.1  # seconds between two looks, at the least
SLOWEST = 1.0  # and at the most
SHARE = 100  # one in so many seconds goes into looking
PATIENCE = 5.0  # seconds
SETTLED = 1.0  # seconds after which memory is given back once more
MUCH = 4 << 20  # bytes; less is not worth giving back, which takes 1 ms and more
MIB = 1 << 20


class Holder(Protocol):
    """A connection that holds bytes."""

    @property
    def held(self) -> int:
        """How many."""

    def let_go(self) -> None:
        """Forget what can be had again."""

    def pause(self) -> None:
        """Do not read it."""

    def resume(self) -> None:
        """Read it again."""

    def abort(self, reason: str | None = None) -> None:
        """End it now; the budget is told by `forget`."""


class Budget:
    """The budget of one worker: `most` bytes. `held` is how many are, `pauses` and `ends` are counts.

    `resumed` is called when connections may be read again that were not.
    """

    def __init__(
        self,
        most: int,
        holders: Collection[Holder],
        give_back: Callable[[], None] = give_back,
        resumed: Callable[[], None] = lambda: None,
    ) -> None:
        self.apply(most)
        self._holders = holders
        self._give_back = give_back
        self._resumed = resumed
        self._holding: dict[Holder, int] = {}
        self._paused: set[Holder] = set()
        self._much = 0.0  # who holds more than this is not read where memory is short
        self._exceeded_since: float | None = None  # more than enough is held
        self._most_lately = 0  # held since memory was given back
        self._once_more = math.inf  # when it is given back again
        self.held = 0
        self.pauses = 0
        self.ends = 0

    def apply(self, most: int) -> None:
        """So many bytes may be held."""
        self._most = most
        self._enough = most - most // 4

    async def watch(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            began = time.perf_counter()
            self.look()
            await trio.sleep(min(max(QUICKEST, SHARE * (time.perf_counter() - began)), SLOWEST))

    def look(self) -> None:
        """Look at all connections, and do what must be done."""
        self._count()
        if self.held > self._enough:
            for holder in self._holding:
                holder.let_go()
            self._count()
        if self.held > self._enough:
            self._relieve()
        self._most_lately = max(self._most_lately, self.held)
        if self._most_lately > MUCH and self.held < self._most_lately // 2:
            self._most_lately = self.held
            self._once_more = trio.current_time() + SETTLED
            self._give_back()
        elif trio.current_time() >= self._once_more:
            self._once_more = math.inf
            self._give_back()
        if self.held <= self._enough:
            self._exceeded_since = None
            paused, self._paused = self._paused, set()
            for holder in paused:
                holder.resume()
            if paused:
                self._resumed()

    def _count(self) -> None:
        self._holding = {holder: held for holder in self._holders if (held := holder.held)}
        self.held = sum(self._holding.values())
        most = max(self._holding.values(), default=0)
        self._much = max(self.held / max(len(self._holding), 1), most / 4)

    def kept(self, holder: Holder) -> None:
        """This connection kept all that was read of it."""
        held = holder.held
        self.held += held - self._holding.get(holder, 0)
        self._holding[holder] = held
        self._most_lately = max(self._most_lately, self.held)
        if self.held > self._most or (self.held > self._enough and self._exceeded_since is None):
            self.look()
        elif self.held > self._enough and held >= self._much:
            self._pause(holder)

    def forget(self, holder: Holder) -> None:
        """This connection is over."""
        self.held -= self._holding.pop(holder, 0)
        self._paused.discard(holder)

    def _relieve(self) -> None:
        """More than enough is held."""
        now = trio.current_time()
        if self._exceeded_since is None:
            self._exceeded_since = now
        target = self._enough if now - self._exceeded_since >= PATIENCE else self._most
        while self.held > target and self._holding:
            self._end(max(self._holding, key=self._holding.__getitem__))
        for holder, held in tuple(self._holding.items()):  # one that is paused may be over
            if held >= self._much and self.held > self._enough:
                self._pause(holder)

    def _pause(self, holder: Holder) -> None:
        if holder not in self._paused:
            self._paused.add(holder)
            self.pauses += 1
            holder.pause()

    def _end(self, holder: Holder) -> None:
        self.ends += 1
        held, most = self._holding[holder] / MIB, self._most / MIB
        holder.abort(f"it held {held:,.1f} MiB of the {most:,.1f} that all connections may hold (limits.memory)")
        self.forget(holder)
