"""Tasks: the handlers of one frame on their way, carried from one step to the next.

Rules:
* A task is advanced when what it waits for is there: the time of a Sleep, the turn of the others, the result of a Call,
  the answer to an Ask. A large answer is read in slices first.
* It ends exactly once, with its result; its steps raise nothing. A link that closes drops it.
* `WaitingTasks` knows what is begun at each kind of step from the link, which puts the parts together.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Generic, Protocol, TypeVar

from proxy.core.decisions import TURN, Ask, Step
from proxy.core.failure import detached
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.slices import Sliced

WAITING: Any = object()
R = TypeVar("R")
Begin = Callable[["Task[Any]", Any], bool]  # begins what a step waits for. True: there is nothing to wait for


class Waiter(Protocol):
    """Whatever waits for `net`."""

    def go_on(self, value: Any) -> None:
        """What it waits for is there."""

    def drop(self) -> None:
        """The link is closed."""


class WaitingTasks:
    """What waits for `net` on one link, by tokens. `begins`: what is begun at each kind of step."""

    __slots__ = ("_last", "_waiting", "begins")

    def __init__(self) -> None:
        self.begins: dict[type, Begin] = {}
        self._waiting: dict[int, Waiter] = {}
        self._last = 0

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


class Task(Generic[R]):
    """The handlers of one frame, or what goes on beside all. `done` gets the result if it did not come at once."""

    __slots__ = ("_begins", "_done", "_reading", "_steps", "may_ask")

    def __init__(
        self,
        tasks: WaitingTasks,
        steps: Generator[Step, Any, R],
        done: Callable[[R], None],
        *,
        may_ask: bool,
    ) -> None:
        self._begins = tasks.begins
        self._steps = steps
        self._done = done
        self._reading: Sliced[Any] | None = None  # the answer to its question
        self.may_ask = may_ask

    def start(self) -> R:
        """Advance to the first step: the result, or WAITING."""
        return self._advance(self._steps.send, None)

    def go_on(self, value: Any) -> None:
        """What the last step waited for is there."""
        if self._reading is not None:
            self.read(self._reading)
        else:
            self._finish(self._advance(self._steps.send, value))

    def read(self, answer: Sliced[Any]) -> None:
        """What the last step waited for is there, and has to be read. It raises ProtocolError where that fails."""
        self._reading = answer
        try:
            next(answer)
        except StopIteration as end:
            self._reading = None
            self.go_on(end.value)
        except ProtocolError as error:
            self._reading = None
            self.fail(detached(error))
        else:
            self._begins[type(TURN)](self, TURN)

    def fail(self, error: Exception) -> None:
        """What the last step waited for will not come."""
        self._finish(self._advance(self._steps.throw, error))

    def drop(self) -> None:
        """The link is closed."""
        self._reading = None
        self._steps.close()

    def _finish(self, result: R) -> None:
        if result is not WAITING:
            self._done(result)

    def _advance(self, resume: Callable[[Any], Step], value: Any) -> R:
        while True:
            try:
                step = resume(value)
            except StopIteration as end:
                result: R = end.value
                return result
            try:
                if not self._begins.get(type(step), NO_STEP)(self, step):
                    waiting: R = WAITING
                    return waiting
            except (ProtocolError, TypeError) as error:
                resume, value = self._steps.throw, error
            else:
                resume, value = self._steps.send, None


def _no_step(task: Task[Any], step: object) -> bool:
    raise TypeError(f"{step!r} is no step")


NO_STEP: Begin = _no_step


class PendingAsk:
    """A slot's mark: the broker's answer is for one of our handlers, never for the client."""

    __slots__ = ("ask", "task", "version")

    sees_response = True  # `Responses` looks at this of every slot

    def __init__(self, task: Task[Any], ask: Ask, version: int) -> None:
        self.task = task
        self.ask = ask
        self.version = version


def newest_common(ask: Ask, spoken: tuple[int, int] | None) -> int:
    """The version in which to ask: the newest that both sides know, where the broker said what it knows."""
    if ask.version is not None:
        return ask.version
    api = ask.request.api
    if spoken is None:
        return api.newest
    low, high = spoken
    if low > api.newest:
        raise ProtocolError(f"the broker speaks only versions from {low} on", fault=Fault.BROKER, api=api.name)
    return min(api.newest, high)
