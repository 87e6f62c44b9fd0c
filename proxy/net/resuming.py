"""Resuming: what a link waits for besides sockets: time, its turn, a thread or a signal. Then it goes on.

Rules:
* A waiter is resumed once, and only while it is not closing. A sleep of days does not outlive its link.
* A delay counts from the event that caused it: the sleeping task starts later, after the turn of the reactor.
* Calls `apart` compute for long. Those of one name run one at a time (`long_calls.py`), and leave the threads for files
  free. Such a call does not begin if its link is over.
* The reactor does not linger while a task of a delay is to start, or while a thread makes a call (`in_hurry`).
* Wake-ups come at whole milliseconds only, because epoll rounds its timeouts up. So the sleep is half a millisecond
  shorter, and ends too early as often as too late.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any, Protocol

import trio

from proxy.core.clock import Clock
from proxy.core.commands import Command
from proxy.core.failure import FAILURES, AnyFailure, detached
from proxy.core.link import Link
from proxy.net.long_calls import LongCalls
from proxy.net.thread_work import CALLS
from proxy.net.turns import Turns

RETRY = 0.1  # seconds after which a thread is tried to be started again
ROUNDED = 0.0005  # seconds by which epoll's rounding lengthens a wait, on average


class Resumable(Protocol):
    """A conversation, as this module sees it."""

    link: Link
    closing: bool

    def carry_out(self, commands: Sequence[Command]) -> None:
        """Carry out the link's commands."""


LinkStep = Callable[[], None]
TakeStep = Callable[[Any, LinkStep], None]  # runs a step of this waiter


class Resuming:
    """All waits of one reactor. `in_turn` runs a step within the loop, `outside` from another task.

    `in_hurry`: tasks that trio has to start, or whose threads may end at any moment.
    """

    def __init__(self, turns: Turns, clock: Clock, in_turn: TakeStep, outside: TakeStep) -> None:
        self._turns = turns
        self._clock = clock
        self._in_turn = in_turn
        self._outside = outside
        self._sleeping: dict[Resumable, dict[int, trio.CancelScope]] = {}
        self._nursery: trio.Nursery | None = None
        self._long: defaultdict[str, LongCalls[Resumable]] = defaultdict(LongCalls)
        self._apart = trio.CapacityLimiter(inf)
        self._trio: trio.lowlevel.TrioToken
        self.in_hurry = 0

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run the waits until cancelled."""
        self._trio = trio.lowlevel.current_trio_token()
        async with trio.open_nursery() as self._nursery:
            task_status.started()
            try:
                await trio.sleep_forever()
            finally:
                for calls in self._long.values():
                    calls.clear()

    def wake_later(self, waiter: Resumable, token: int, seconds: float) -> None:
        """Wake a link so many seconds after its current event. With 0, after the others have had their turn."""
        if not seconds:
            self._turns.wait(partial(self._in_turn, waiter, partial(_wake, waiter, token)))
        elif not waiter.closing:
            scope = self._sleeping.setdefault(waiter, {})[token] = trio.CancelScope()
            self._begin(self._sleep, waiter, token, self._clock.now + seconds - ROUNDED, scope)

    async def _sleep(self, waiter: Resumable, token: int, until: float, scope: trio.CancelScope) -> None:
        self.in_hurry -= 1
        with scope:
            await trio.sleep_until(until)
        if waiter in self._sleeping:
            del self._sleeping[waiter][token]
            self._outside(waiter, partial(_wake, waiter, token))

    def released(self, token: int, waiter: Resumable) -> None:
        """Resume a link, since the signal that it waits for was released."""
        scope = self._sleeping.get(waiter, {}).get(token)
        if scope is not None:
            scope.cancel()
        else:
            self._outside(waiter, partial(self.wake_later, waiter, token, 0))

    def perform(self, waiter: Resumable, token: int, work: Callable[[], Any], apart: str = "") -> None:
        """Call this in a thread, for this link."""
        if not apart:
            self._begin(self._perform, waiter, token, work)
        elif self._long[apart].add(_address(waiter), waiter, partial(self._compute, waiter, token, work)):
            self._begin(self._make_all, self._long[apart])

    async def _perform(self, waiter: Resumable, token: int, work: Callable[[], Any]) -> None:
        value = error = None
        try:
            value = await trio.to_thread.run_sync(work, limiter=CALLS)
        except FAILURES as raised:
            error = detached(raised)
        self.in_hurry -= 1
        self._outside(waiter, partial(_performed, waiter, token, value, error))

    async def _make_all(self, calls: LongCalls[Resumable]) -> None:
        while True:
            try:
                await trio.to_thread.run_sync(calls.make_all, limiter=self._apart)
                break
            except RuntimeError:  # no thread can be started now
                await trio.sleep(RETRY)
        self.in_hurry -= 1

    def _compute(self, waiter: Resumable, token: int, work: Callable[[], Any]) -> None:
        """Make a call, in a thread."""
        if waiter.closing:
            return
        value = error = None
        try:
            value = work()
        except FAILURES as raised:
            error = detached(raised)
        self._trio.run_sync_soon(self._outside, waiter, partial(_performed, waiter, token, value, error))

    def forget(self, waiter: Resumable) -> None:
        """Drop the waits of a link that is over."""
        for scope in self._sleeping.pop(waiter, {}).values():
            scope.cancel()
        for calls in self._long.values():
            calls.forget(_address(waiter), waiter)

    def _begin(self, do: Callable[..., Any], *arguments: Any) -> None:
        assert self._nursery is not None, "the reactor is not running"
        self.in_hurry += 1
        self._nursery.start_soon(do, *arguments)


def _address(waiter: Resumable) -> str:
    return waiter.link.connection.client[0]


def _wake(waiter: Resumable, token: int) -> None:
    _performed(waiter, token, None, None)


def _performed(waiter: Resumable, token: int, value: object, error: AnyFailure | None) -> None:
    if not waiter.closing:
        waiter.carry_out(waiter.link.performed(token, value, error))
