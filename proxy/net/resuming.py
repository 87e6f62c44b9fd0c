"""Resuming: what a link waits for besides sockets: time, its turn, a thread or a signal. Then it goes on.

Rules:
* A waiter is resumed once, and only while it is not closing. A sleep of days does not outlive its link.
* A delay counts from the event that caused it. The sleeping task may start a millisecond later, because the reactor
  lingers. Counted from that start, a delay of 5 ms took 6.8.
* Calls `apart` compute for long. They share one thread, so that the threads for files stay free. Such a call does not
  begin if its link is over.
* Wake-ups come at whole milliseconds only, because epoll rounds its timeouts up. So the sleep is half a millisecond
  shorter, and ends too early as often as too late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import trio

from proxy.core.clock import Clock
from proxy.core.commands import Command
from proxy.core.failure import detached
from proxy.core.link import Link
from proxy.net.turns import Turns

ROUNDED = 0.0005  # seconds by which epoll's rounding lengthens a wait, on average


class Resumable(Protocol):
    """A conversation, as this module sees it."""

    link: Link
    closing: bool

    def carry_out(self, commands: Sequence[Command]) -> None:
        """Carry out the link's commands."""


Step = Callable[[], None]
Take = Callable[[Any, Step], None]  # runs a step of this waiter


class Resuming:
    """All waits of one reactor. `in_turn` runs a step within the loop, `outside` from another task."""

    def __init__(self, turns: Turns, clock: Clock, in_turn: Take, outside: Take) -> None:
        self._turns = turns
        self._clock = clock
        self._in_turn = in_turn
        self._outside = outside
        self._sleeping: dict[Resumable, set[trio.CancelScope]] = {}
        self._nursery: trio.Nursery | None = None
        self._apart = trio.CapacityLimiter(1)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run the waits until cancelled."""
        async with trio.open_nursery() as self._nursery:
            task_status.started()
            await trio.sleep_forever()

    def wake_later(self, waiter: Resumable, token: int, seconds: float) -> None:
        """Wake a link so many seconds after its current event. With 0, after the others have had their turn."""
        if not seconds:
            self._turns.wait(partial(self._in_turn, waiter, partial(_wake, waiter, token)))
        elif not waiter.closing:
            scope = trio.CancelScope()
            self._sleeping.setdefault(waiter, set()).add(scope)
            self._begin(self._sleep, waiter, token, self._clock.now + seconds - ROUNDED, scope)

    async def _sleep(self, waiter: Resumable, token: int, until: float, scope: trio.CancelScope) -> None:
        with scope:
            await trio.sleep_until(until)
        if waiter in self._sleeping:
            self._sleeping[waiter].discard(scope)
            self._outside(waiter, partial(_wake, waiter, token))

    def released(self, token: int, waiter: Resumable) -> None:
        """Resume a link, since the signal that it waits for was released."""
        self._outside(waiter, partial(self.wake_later, waiter, token, 0))

    def perform(self, waiter: Resumable, token: int, work: Callable[[], Any], apart: bool = False) -> None:
        """Call this in a thread, for this link."""
        self._begin(self._perform, waiter, token, work, self._apart if apart else None)

    async def _perform(
        self, waiter: Resumable, token: int, work: Callable[[], Any], apart: trio.CapacityLimiter | None
    ) -> None:
        value = error = None
        try:
            if apart is None:
                value = await trio.to_thread.run_sync(work)
            else:
                value = await trio.to_thread.run_sync(lambda: None if waiter.closing else work(), limiter=apart)
        except Exception as raised:
            error = detached(raised)
        self._outside(waiter, partial(_performed, waiter, token, value, error))

    def forget(self, waiter: Resumable) -> None:
        """Drop the waits of a link that is over."""
        for scope in self._sleeping.pop(waiter, ()):
            scope.cancel()

    def _begin(self, do: Callable[..., Any], *arguments: Any) -> None:
        assert self._nursery is not None, "the reactor is not running"
        self._nursery.start_soon(do, *arguments)


def _wake(waiter: Resumable, token: int) -> None:
    _performed(waiter, token, None, None)


def _performed(waiter: Resumable, token: int, value: object, error: Exception | None) -> None:
    if not waiter.closing:
        waiter.carry_out(waiter.link.performed(token, value, error))
