"""Waiting: the tasks of one link that wait for `net`, and what each kind of step begins.

Rules:
* A waiter has a token, with which it goes on once: when `net` says that the time is over, the work done, or the signal
  released. When the link closes, the waiter is dropped.
* The type of a step decides what it begins. The link adds the types that are not for `net` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from proxy.core.decisions import TURN, Call, Sleep, Wait
from proxy.core.outbox import Outbox

# Begins what a step waits for: it is given the task and the step. True: there is nothing to wait for.
BeginStep = Callable[[Any, Any], bool]


class Waiter(Protocol):
    """A task, or anything else that waits for `net`."""

    def go_on(self, value: Any) -> None:
        """The wait is over, with this value."""

    def drop(self) -> None:
        """The link is closed."""


class WaitingTasks:
    """The waiters of one link, by tokens. `begins`: the function that begins each kind of step."""

    __slots__ = ("_last", "_outbox", "_waiting", "begins")

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._waiting: dict[int, Waiter] = {}
        self._last = 0
        self.begins: dict[type, BeginStep] = {
            Sleep: self._sleep,
            type(TURN): self.let_others,
            Call: self._call,
            Wait: self._wait,
        }

    def token(self, waiter: Waiter) -> int:
        """A new token, with which this waiter is taken when it may go on."""
        self._last += 1
        self._waiting[self._last] = waiter
        return self._last

    def take(self, token: int) -> Waiter | None:
        """The waiter with this token; None: it went on already, or its link is closed."""
        return self._waiting.pop(token, None)

    def drop(self) -> None:
        """The link is closed."""
        waiting = list(self._waiting.values())
        self._waiting.clear()
        for waiter in waiting:
            waiter.drop()

    def let_others(self, waiter: Waiter, step: None = TURN) -> bool:
        """Have this waiter go on when the other links had their turn."""
        self._outbox.wake(self.token(waiter), 0)
        return False

    def _sleep(self, waiter: Waiter, step: Sleep) -> bool:
        self._outbox.wake(self.token(waiter), step.seconds, step.unless)
        return False

    def _wait(self, waiter: Waiter, step: Wait) -> bool:
        if step.signal.is_released:
            return True
        self._outbox.wait(self.token(waiter), step.signal)
        return False

    def _call(self, waiter: Waiter, step: Call) -> bool:
        self._outbox.perform(self.token(waiter), step.work, step.apart)
        return False
