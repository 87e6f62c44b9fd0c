"""Resuming: what a link waits for that no socket brings (time, its turn, a thread, a signal), after which it goes on.

# Who waits is resumed once, and only while it is not closing. What sleeps for days does not outlive its link.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import trio

from proxy.core.commands import Command
from proxy.core.failure import detached
from proxy.core.link import Link
from proxy.net.turns import Turns


class Resumable(Protocol):
    """A conversation, as it is seen here."""

    link: Link
    closing: bool

    def carry_out(self, commands: Sequence[Command]) -> None:
        """Do what the link wants."""


Step = Callable[[], None]
Take = Callable[[Any, Step], None]  # take a step of this waiter


class Resuming:
    """Those of one reactor that wait. `in_turn` takes a step within the loop, `outside` from another task."""

    def __init__(self, turns: Turns, in_turn: Take, outside: Take) -> None:
        self._turns = turns
        self._in_turn = in_turn
        self._outside = outside
        self._sleeping: dict[Resumable, set[trio.CancelScope]] = {}
        self._nursery: trio.Nursery | None = None

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Let links wait, until cancelled."""
        async with trio.open_nursery() as self._nursery:
            task_status.started()
            await trio.sleep_forever()

    def wake_later(self, waiter: Resumable, token: int, seconds: float) -> None:
        """Wake this link after a while, or (0) when the others had their turn."""
        if not seconds:
            self._turns.wait(partial(self._in_turn, waiter, partial(_wake, waiter, token)))
        elif not waiter.closing:
            scope = trio.CancelScope()
            self._sleeping.setdefault(waiter, set()).add(scope)
            self._begin(self._sleep, waiter, token, seconds, scope)

    async def _sleep(self, waiter: Resumable, token: int, seconds: float, scope: trio.CancelScope) -> None:
        with scope:
            await trio.sleep(seconds)
        if waiter in self._sleeping:
            self._sleeping[waiter].discard(scope)
            self._outside(waiter, partial(_wake, waiter, token))

    def released(self, token: int, waiter: Resumable) -> None:
        """A signal that this link waits for was released."""
        self._outside(waiter, partial(self.wake_later, waiter, token, 0))

    def perform(self, waiter: Resumable, token: int, work: Callable[[], Any]) -> None:
        """Call this in a thread, for this link."""
        self._begin(self._perform, waiter, token, work)

    async def _perform(self, waiter: Resumable, token: int, work: Callable[[], Any]) -> None:
        value = error = None
        try:
            value = await trio.to_thread.run_sync(work)
        except Exception as raised:
            error = detached(raised)
        self._outside(waiter, partial(_performed, waiter, token, value, error))

    def forget(self, waiter: Resumable) -> None:
        """This link is over."""
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
