"""Driving: a generator of steps, taken one at a time by somebody who can wait for what each of them says.

    driver = StepDriver(steps)
    while driver.advance():
        driver.give(...)            # what `driver.step` waited for; or `throw`, where that failed
    driver.result

Rules:
* What is given, or thrown, reaches the steps at the next `advance()`. Where nothing is, they get None.
* What the steps themselves raise leaves `advance()`.
* Nothing that was given or thrown is kept. An error would hold itself, by the frames of its traceback.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Generic, TypeVar

from proxy.core.decisions import Step

R = TypeVar("R")


class StepDriver(Generic[R]):
    """Some steps under way. `step` is the one that waits, `result` what they came to, `value` what they are given."""

    __slots__ = ("_error", "_steps", "result", "step", "value")

    def __init__(self, steps: Generator[Step, Any, R]) -> None:
        self._steps = steps
        self._error: Exception | None = None
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

    def give(self, value: Any) -> None:
        """What the last step waited for."""
        self.value = value

    def throw(self, error: Exception) -> None:
        """What the last step waited for failed."""
        self._error = error
