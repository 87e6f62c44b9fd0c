"""Waiting: what waits for `net` on one link, and what is begun at each kind of step.

Rules:
* What waits has a token, by which it goes on once: when `net` says that the time is over, the work done, the signal
  released. When the link closes it is dropped.
* What a step waits for is begun by the type of the step. The link adds those that are not for `net` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from proxy.core.commands import Await
from proxy.core.decisions import TURN, Call, Sleep, Wait
from proxy.core.outbox import Outbox

Begin = Callable[
    [Any, Any], bool
]  # is given the task and its step; begins what that waits for. True: nothing to wait for


class Waiter(Protocol):
    """Whatever waits for `net`."""

    def go_on(self, value: Any) -> None:
        """What it waits for is there."""

    def drop(self) -> None:
        """The link is closed."""


class WaitingTasks:
    """What waits for `net` on one link, by tokens. `begins`: what is begun at each kind of step."""

    __slots__ = ("_last", "_outbox", "_waiting", "begins")

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._waiting: dict[int, Waiter] = {}
        self._last = 0
        self.begins: dict[type, Begin] = {
            Sleep: self._sleep,
            type(TURN): self.let_others,
            Call: self._call,
            Wait: self._wait,
        }

    def token(self, waiter: Waiter) -> int:
        """A token by which this is taken when it may go on."""
        self._last += 1
        self._waiting[self._last] = waiter
        return self._last

    def take(self, token: int) -> Waiter | None:
        """What has this token; None: it goes on already, or its link is closed."""
        return self._waiting.pop(token, None)

    def drop(self) -> None:
        """The link is closed."""
        waiting = list(self._waiting.values())
        self._waiting.clear()
        for waiter in waiting:
            waiter.drop()

    def let_others(self, waiter: Waiter, step: None = TURN) -> bool:
        """This goes on when the other links had their turn."""
        self._outbox.wake(self.token(waiter), 0)
        return False

    def _sleep(self, waiter: Waiter, step: Sleep) -> bool:
        self._outbox.wake(self.token(waiter), step.seconds)
        return False

    def _wait(self, waiter: Waiter, step: Wait) -> bool:
        if step.signal.is_released:
            return True
        self._outbox.say(Await(self.token(waiter), step.signal))
        return False

    def _call(self, waiter: Waiter, step: Call) -> bool:
        self._outbox.perform(self.token(waiter), step.work)
        return False
