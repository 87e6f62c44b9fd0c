"""One step of an exchange, whether it takes steps of its own or not."""

from __future__ import annotations

from collections.abc import Generator

from proxy.core.decisions import Call
from proxy.core.driving import StepDriver
from proxy.core.sasl.authority import Exchange, StepResult


def step(exchange: Exchange, token: bytes) -> StepResult:
    """The result for this token. The others have their turn, and calls are made, at once."""
    outcome = exchange.step(token)
    if not isinstance(outcome, Generator):
        return outcome
    driver = StepDriver(outcome)
    while driver.advance():
        if isinstance(driver.step, Call):
            driver.give(driver.step.work())
    result: StepResult = driver.result
    return result
