"""Driving: a generator of steps, taken one at a time by a caller that can wait for each of them.

    driver = StepDriver(steps)
    while driver.advance():
        driver.give(...)            # what `driver.step` waited for; or `throw`, if that failed
    driver.result

Rules:
* A value that is given, or an error that is thrown, reaches the steps at the next `advance()`. Otherwise they get None.
* An error that the steps themselves raise leaves `advance()`.
* No value or error is kept. An error would hold itself, by the frames of its traceback.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Generic, TypeVar

from proxy.core.decisions import Step
from proxy.core.failure import FAILURES, AnyFailure

R = TypeVar("R")


class StepDriver(Generic[R]):
    """Some steps under way. `step` is the one that waits, `value` what it is given, `result` what the steps return."""

    __slots__ = ("_error", "_steps", "result", "step", "value")

    def __init__(self, steps: Generator[Step, Any, R]) -> None:
        self._steps = steps
        self._error: AnyFailure | None = None
        self.value: Any = None
        self.step: Step
        self.result: R

    def advance(self) -> bool:
        """Take the next step. False: there is none, and the result is known."""
        value, self.value = self.value, None
        error, self._error = self._error, None
        try:
            self.step = self._steps.send(value) if error is None else self._steps.throw(error)
        except StopIteration as end:
            self.result = end.value
            return False
        finally:
            value = error = None
        return True

    def hand_on(self) -> Generator[Step, Any, None]:
        """Yield the present step to the caller. Its result, or its failure, is then given to the steps."""
        try:
            self.give((yield self.step))
        except FAILURES as error:
            self.throw(error)

    def give(self, value: Any) -> None:
        """The last step waited for this value."""
        self.value = value

    def throw(self, error: AnyFailure) -> None:
        """The last step failed with this error."""
        self._error = error
