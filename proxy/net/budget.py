"""Budget: how many bytes all connections of a worker may hold together, so that none takes the memory of the others.

It counts memory that grows with traffic: frames that are assembled or wait for their handlers (with what those make of
them), responses that wait for older ones, bytes that a socket has not taken, and notes of plugins. Bytes that pass
straight through are not held.

Rules:
* From three quarters of the budget on, all connections drop what they can obtain again.
* If that is not enough, large connections are not read: those that hold more than the average of all that hold
  anything, and more than a quarter of what the largest holds. They are read again when enough has been released.
* If that has not helped for 5 seconds, or the budget is spent, the connection that holds most is ended, then the next.
* What plugins keep of connections that are gone counts too. It keeps large ones from being read, but ends none: that
  would not release it.
* Connections that hold less are never stopped because of others.
* After much was released, memory is returned to the system: see `spare_memory.py`.
* Nothing is counted where bytes pass. Connections are looked at a few times a second, and a connection that kept a
  whole chunk is looked at then. That takes a hundredth of the time, unless the looks would become too rare. If there
  is too much after such a chunk, all are looked at soon, and a large connection is not read until then.
* A look at very many connections is done in slices, and other tasks run in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Set
from typing import Protocol

import trio

from proxy.net.spare_memory import SpareMemory
from proxy.net.time_slices import TimeSlice

QUICKEST = 0.1  # seconds between two looks, at least
SLOWEST = 1.0  # and at most
SHARE = 100  # looking takes one second in so many
PATIENCE = 5.0  # seconds with too much held before connections are ended
TLS = 70 << 10  # bytes that OpenSSL holds for each connection, which are not counted
MIB = 1 << 20


class MemoryHolder(Protocol):
    """A connection that holds bytes."""

    @property
    def held(self) -> int:
        """How many bytes it holds."""

    def let_go(self) -> None:
        """Drop what can be obtained again."""

    def pause(self) -> None:
        """Stop reading from it."""

    def resume(self) -> None:
        """Read from it again."""

    def abort(self, reason: str | None = None) -> None:
        """End it now. The budget hears of that by `forget`."""


class Budget:
    """The budget of one worker: `most` bytes. `held` is how many are held. `pauses` and `ends` are counts.

    `spare` returns memory. `resumed` is called when paused connections may be read again. `beside` gives the bytes that
    plugins keep of connections that are gone.
    """

    def __init__(
        self,
        most: int,
        holders: Collection[MemoryHolder],
        spare: SpareMemory | None = None,
        resumed: Callable[[], None] = lambda: None,
    ) -> None:
        self.apply(most)
        self._holders = holders
        self.spare = spare or SpareMemory()
        self._resumed = resumed
        self.beside: Callable[[], int] = lambda: 0
        self._beside = 0
        self._holding: dict[MemoryHolder, int] = {}
        self._paused: set[MemoryHolder] = set()
        self._paused_early: set[MemoryHolder] = set()  # those of them that were paused since the last look
        self._look_soon = trio.Event()
        self._much = 0.0  # connections that hold more are not read while memory is short
        self._exceeded_since: float | None = None  # since when more than enough has been held
        self.held = 0
        self.pauses = 0
        self.ends = 0

    def apply(self, most: int) -> None:
        """Set how many bytes may be held."""
        self._most = most
        self._enough = most - most // 4

    async def watch(self) -> None:
        """Look at regular intervals, until cancelled."""
        while True:
            spent, began = 0.0, time.perf_counter()
            for _ in self.look():
                spent += time.perf_counter() - began
                await trio.lowlevel.checkpoint()
                began = time.perf_counter()
            spent += time.perf_counter() - began
            with trio.move_on_after(min(max(QUICKEST, SHARE * spent), SLOWEST)):
                await self._look_soon.wait()
            self._look_soon = trio.Event()

    def look(self) -> Iterator[None]:
        """Look at all connections, and act on the rules. After each `yield`, connections may have come and gone."""
        yield from self._counting()
        if self.held > self._enough:
            yield from self._counting(let_go=True)
        if self.held > self._enough:
            yield from self._relieve()
        self.spare.look(self.held)
        if self.held <= self._enough:
            self._exceeded_since = None
            self._resume(self._paused)
        else:
            self._resume({each for each in self._paused_early if self._holding.get(each, 0) < self._much})
        self._paused_early.clear()

    def _counting(self, *, let_go: bool = False) -> Iterator[None]:
        """Count what each connection holds, in slices. `let_go`: first it drops what can be obtained again."""
        now = TimeSlice()
        for holder in tuple(self._holders):
            if holder in self._holders:
                if let_go:
                    holder.let_go()
                self._count(holder)
            if now.is_over:
                yield
                now = TimeSlice()
        beside, self._beside = self._beside, self.beside()
        self.held += self._beside - beside
        among = self.held - self._beside
        most = max(self._holding.values(), default=0)
        self._much = max(among / max(len(self._holding), 1), most / 4)

    def _count(self, holder: MemoryHolder) -> int:
        """What this connection holds now."""
        held = holder.held
        self.held += held - self._holding.pop(holder, 0)
        if held:
            self._holding[holder] = held
        return held

    def count_now(self, holder: MemoryHolder) -> None:
        """Count this connection now: it may hold all bytes that were just read from it."""
        held = self._count(holder)
        self.spare.saw(self.held)
        if self.held <= self._enough:
            return
        if held >= self._much and holder not in self._paused:
            self._paused_early.add(holder)
            self._pause(holder)  # which may end it
        if self.held > self._most or self._exceeded_since is None:
            self._look_soon.set()

    def forget(self, holder: MemoryHolder) -> None:
        """A connection is over: its bytes are released."""
        self.held -= self._holding.pop(holder, 0)
        self._paused.discard(holder)
        self._paused_early.discard(holder)

    def _relieve(self) -> Iterator[None]:
        """More than enough is held: end or pause connections, in slices."""
        now, working = trio.current_time(), TimeSlice()
        if self._exceeded_since is None:
            self._exceeded_since = now
        target = self._enough if now - self._exceeded_since >= PATIENCE else self._most
        while self.held - self._beside > target and self._holding:
            self._end(max(self._holding, key=self._holding.__getitem__))
            if working.is_over:
                yield
                working = TimeSlice()
        for holder, held in tuple(self._holding.items()):  # pausing a connection may end it
            if held >= self._much and self.held > self._enough:
                self._pause(holder)

    def _pause(self, holder: MemoryHolder) -> None:
        if holder not in self._paused:
            self._paused.add(holder)
            self.pauses += 1
            holder.pause()

    def _resume(self, holders: Set[MemoryHolder]) -> None:
        self._paused = self._paused - holders
        for holder in holders:
            holder.resume()
        if holders:
            self._resumed()

    def _end(self, holder: MemoryHolder) -> None:
        self.ends += 1
        held, most = self._holding[holder] / MIB, self._most / MIB
        holder.abort(f"it held {held:,.1f} MiB of the {most:,.1f} that all connections may hold (limits.memory)")
        self.forget(holder)
