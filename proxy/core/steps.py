"""Steps: checks the steps of handlers, and turns every exception of a handler into a `HandlerError`.

Rules:
* A handler that raises, or returns something that is no decision, gives a `HandlerError` that names it, and no more.
* Steps that no request waits for (`connected`, `accepted`) fail closed too: their connection ends. The texts of their
  errors are not logged, so what they may not return is told by the type of the error.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from types import GeneratorType, NoneType
from typing import Any

from proxy.core.arrival import Arrival
from proxy.core.context import Connection, Context
from proxy.core.decisions import Ask, Call, Decision, Disconnect, Sleep, Step, Steps, Wait
from proxy.core.driving import StepDriver
from proxy.core.failure import FAILURES, AnyFailure, detached, name_of, raised_at
from proxy.core.wish import Handler
from proxy.protocol.fiber import in_slices
from proxy.protocol.schema import Message

STEPS = (Sleep, Ask, Call, Wait, NoneType)  # a union of them would be made for each step anew


class HandlerError(Exception):
    """A handler raised, or returned something that is no decision; `cause` says what, and may hold secrets."""

    def __init__(self, handler: object, cause: AnyFailure) -> None:
        super().__init__(str(handler))
        self.handler = str(handler)
        self.at = raised_at(cause, handler.call if isinstance(handler, Handler) else None)
        self.cause = detached(cause)


class NoDecisionError(TypeError):
    """`accepted` returned something that is no decision about a client that was accepted."""


class NoStepsError(TypeError):
    """`connected` returned something that is neither steps nor None."""


def checked(steps: Generator[Any, Any, Decision], ctx: Context) -> Generator[Step, Any, Decision]:
    """The steps of one handler, each checked to be a step. Values and errors that are sent in reach the handler."""
    driver = StepDriver(steps)
    try:
        while (yield from in_slices(driver.advance)) if ctx.is_large else driver.advance():
            if not isinstance(driver.step, STEPS):
                raise TypeError(f"{driver.step!r} is no step")
            yield from driver.hand_on()
            answer = driver.value
            ctx.is_large = ctx.is_large or (isinstance(answer, Message) and answer.elements is not None)
            answer = None  # it may be large
        return driver.result
    finally:
        steps.close()


def before_steps(
    holders: Iterable[Callable[[Context, Any], Steps | None]], ctx: Context, outcome: object
) -> Generator[Step, Any, None]:
    """The steps that plugins take before an answer leaves. Raises HandlerError."""
    for holder in holders:
        try:
            steps = holder(ctx, outcome)
            decision: object = (yield from checked(steps, ctx)) if isinstance(steps, GeneratorType) else steps
            if decision is not None:
                raise TypeError(f"{decision!r}: before an answer nothing is decided")
        except FAILURES as error:
            raise HandlerError(name_of(holder), error) from None


def failing_closed(steps: Generator[Step, Any, Decision]) -> Generator[Step, Any, Decision]:
    """Steps that no request waits for; any exception becomes a HandlerError."""
    try:
        return (yield from steps)
    except HandlerError:
        raise
    except FAILURES as error:
        raise HandlerError(name_of(steps), error) from None


def caught(steps: Generator[Step, Any, Decision]) -> Generator[Step, Any, Decision | HandlerError]:
    """The same, with the error as their result."""
    try:
        return (yield from failing_closed(steps))
    except HandlerError as error:
        return detached(error)


def arrival_steps(
    plugins: Iterable[Callable[[Arrival], Steps | Decision]], arrival: Arrival
) -> Generator[Step, Any, Disconnect | None]:
    """Ask plugins about a client that was accepted. Raises HandlerError."""
    for accepted in plugins:
        try:
            decision = accepted(arrival)
            if isinstance(decision, GeneratorType):
                decision = yield from decision
            if isinstance(decision, Disconnect):
                return decision
            if decision is not None:
                raise NoDecisionError(f"{decision!r} is no decision about a client that was accepted")
        except FAILURES as error:
            raise HandlerError(name_of(accepted), error) from None
    return None


def begun(begin: Callable[[Connection], Steps | None], connection: Connection) -> Steps | None:
    """The steps of a plugin's `connected`; if that raises, steps that raise."""
    try:
        steps = begin(connection)
        if steps is not None and not isinstance(steps, GeneratorType):
            raise NoStepsError(f"{steps!r} are no steps")
        return steps
    except FAILURES as error:
        return _raising(HandlerError(name_of(begin), error))


def _raising(error: HandlerError) -> Steps:
    raise error
    yield
