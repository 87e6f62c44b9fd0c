"""Tasks: the handlers of one frame, taken from one step to the next.

Rules:
* A task advances when the wait of its step is over: a Sleep has ended, the others had their turn, the result of a Call
  or the answer to an Ask is there. A large answer is read in slices first.
* It ends exactly once, with its result; its steps raise nothing. A link that closes drops it.
* Handlers that wait for nothing need no task: `Lane` begins the steps, and makes one for those that have to wait.
* `waiting.py` says what each kind of step begins.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from proxy.core.decisions import TURN, Step
from proxy.core.driving import StepDriver
from proxy.core.failure import AnyFailure, detached
from proxy.core.waiting import BeginStep, WaitingTasks
from proxy.protocol.problem import ProtocolError
from proxy.protocol.slices import Sliced

WAITING: Any = object()
R = TypeVar("R")


class Task(StepDriver[R]):
    """The handlers of one frame, or steps beside the conversation. `done` gets a result that did not come at once."""

    __slots__ = ("_begins", "_done", "_reading", "may_ask")

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
        self._error = self.value = None
        self._done = done
        self._reading: Sliced[Any] | None = None  # the answer to its question
        self.may_ask = may_ask

    def start(self) -> R:
        """Advance to the first step that has to wait, or to the end. Returns the result, or WAITING."""
        while self.advance():
            if self._waits():
                waiting: R = WAITING
                return waiting
        return self.result

    def go_on_from(self, step: Step) -> R:
        """The steps were begun, and gave this one as their first. Returns the result, or WAITING."""
        self.step = step
        waiting: R = WAITING
        return waiting if self._waits() else self.start()

    def _waits(self) -> bool:
        """Begin the step. False: there is nothing to wait for."""
        try:
            return not self._begins.get(type(self.step), NO_STEP)(self, self.step)
        except (ProtocolError, TypeError) as error:
            self.throw(error)
            return False

    def go_on(self, value: Any) -> None:
        """The wait of the last step is over, with this value."""
        if self._reading is not None:
            self.read(self._reading)
        else:
            self.value = value
            self._finish(self.start())

    def read(self, answer: Sliced[Any]) -> None:
        """The answer that the last step waited for is there, and has to be read; `answer` may raise ProtocolError."""
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

    def fail(self, error: AnyFailure) -> None:
        """The last step failed with this error."""
        self.throw(error)
        self._finish(self.start())

    def drop(self) -> None:
        """The link is closed."""
        self._reading = None
        self._steps.close()

    def _finish(self, result: R) -> None:
        if result is not WAITING:
            self._done(result)


def _no_step(task: Task[Any], step: object) -> bool:
    raise TypeError(f"{step!r} is no step")


NO_STEP: BeginStep = _no_step
