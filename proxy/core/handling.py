"""Handling: the handlers of a frame in order, requests downwards, responses upwards.

Rules:
* Every handler sees the message as the ones before it left it: the one that came, or the last one forwarded.
* A `Reply` ends the way down. It goes up through the response handlers of the plugins that the request had passed, as
  the broker's answer would have.
* Both are generators: they yield the steps of the handlers that wait, and return what is to be done.
* Handlers of what is large are called in a fiber: wherever they are, the others have their turn now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from types import GeneratorType
from typing import Any, NamedTuple

from proxy.core.arrival import Arrival
from proxy.core.context import Connection, Context
from proxy.core.decisions import Ask, Call, Cut, Decision, Disconnect, Forward, Raw, Reply, Sleep, Step, Steps, Wait
from proxy.core.failure import detached, raised_at
from proxy.core.filters import FilterChain
from proxy.core.plugin import Handler
from proxy.protocol.fiber import in_slices
from proxy.protocol.schema import Message, Response


class HandlerError(Exception):
    """A handler raised, or answered with what is no decision; `cause` says what, and may hold what is secret."""

    def __init__(self, handler: object, cause: Exception) -> None:
        super().__init__(str(handler))
        self.handler = str(handler)
        self.at = raised_at(cause)
        self.cause = detached(cause)


def request_steps(chain: FilterChain, ctx: Context, message: Message) -> Generator[Step, Any, Decision | Replied]:
    """Show a request to its handlers, top to bottom."""
    forward: Forward | None = None
    assert chain.request is not None
    for handler in chain.request.handlers:
        decision = yield from _decide(handler, ctx, message)
        if isinstance(decision, Reply):
            return (yield from _reply(chain, ctx, decision, handler.position))
        if isinstance(decision, Raw | Cut | Disconnect):
            return decision
        if decision is not None:
            forward, message = decision, decision.message
    return forward


def response_steps(handlers: Iterable[Handler], ctx: Context, message: Message) -> Generator[Step, Any, Decision]:
    """Show a response to its handlers, bottom to top."""
    forward: Forward | None = None
    for handler in handlers:
        decision = yield from _decide(handler, ctx, message)
        if isinstance(decision, Raw | Cut | Disconnect):
            return decision
        if isinstance(decision, Reply):
            raise HandlerError(handler, TypeError("a response is changed with Forward, not with Reply"))
        if decision is not None:
            forward, message = decision, decision.message
    return forward


class Replied(NamedTuple):
    """A reply, in whose place a response handler has other bytes sent."""

    reply: Reply
    instead: Raw | Cut


def _reply(chain: FilterChain, ctx: Context, reply: Reply, position: int) -> Generator[Step, Any, Decision | Replied]:
    answering = chain.response.handlers if chain.response else ()
    passed = [handler for handler in answering if handler.position < position]
    decision = yield from response_steps(passed, ctx, reply.message)
    if isinstance(decision, Forward) and isinstance(decision.message, Response):
        return Reply(decision.message, reply.version, reply.end)
    if isinstance(decision, Raw | Cut):
        return Replied(reply, decision)
    return decision or reply


def _decide(handler: Handler, ctx: Context, message: Message) -> Generator[Step, Any, Decision]:
    """One handler's decision. Whatever it raises becomes a HandlerError that names it."""
    try:
        if handler.needed is not None and not handler.needed(ctx):
            return None
        if ctx.is_large:
            decision = yield from in_slices(handler.call, ctx, message)
        else:
            decision = handler.call(ctx, message)
        if type(decision) is GeneratorType:
            decision = yield from _checked(decision, ctx)
    except Exception as error:
        raise HandlerError(handler, error) from None
    if decision is None:
        return None
    if isinstance(decision, Raw | Cut | Disconnect):
        ctx.decided = str(handler)
        return decision
    if isinstance(decision, Forward):
        if type(decision.message) is not type(message):
            raise HandlerError(handler, TypeError(f"a {type(message).__name__} cannot become {decision.message!r}"))
        return decision
    if isinstance(decision, Reply):
        if type(decision.message) is not ctx.api.response:
            raise HandlerError(handler, TypeError(f"{ctx.api.name} is not answered with {decision.message!r}"))
        ctx.decided = str(handler)
        return decision
    raise HandlerError(handler, TypeError(f"{decision!r} is no decision"))


def _checked(steps: Generator[Any, Any, Decision], ctx: Context) -> Generator[Step, Any, Decision]:
    """The steps of one handler, each of which must be one. What is sent or thrown in reaches the handler."""
    resume, value = steps.send, None
    try:
        while True:
            ended, step = (yield from in_slices(_taken, resume, value)) if ctx.is_large else _taken(resume, value)
            if ended:
                decision: Decision = step
                return decision
            if not isinstance(step, Sleep | Ask | Call | Wait | None):
                raise TypeError(f"{step!r} is no step")
            try:
                resume, value = steps.send, (yield step)
                ctx.is_large = ctx.is_large or (isinstance(value, Message) and value.elements is not None)
            except Exception as error:
                resume, value = steps.throw, error
    finally:
        steps.close()
        value = None  # an error whose traceback has this frame would hold itself


def _taken(resume: Callable[[Any], Any], value: Any) -> tuple[bool, Any]:
    """The next step of a handler; or that there is none, and its decision."""
    try:
        return False, resume(value)
    except StopIteration as end:
        return True, end.value


def failing_closed(steps: Generator[Step, Any, Decision]) -> Generator[Step, Any, Decision]:
    """Steps that no request waits for; whatever they raise becomes a HandlerError."""
    try:
        return (yield from steps)
    except HandlerError:
        raise
    except Exception as error:
        raise HandlerError(getattr(steps, "__qualname__", "steps"), error) from None


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
                raise TypeError(f"{decision!r} is no decision about a client that was accepted")
        except Exception as error:
            raise HandlerError(getattr(accepted, "__qualname__", "accepted"), error) from None
    return None


def begun(begin: Callable[[Connection], Steps | None], connection: Connection) -> Steps | None:
    """A plugin's `connected`; one that raises gives steps that do."""
    try:
        return begin(connection)
    except Exception as error:
        return _raising(HandlerError(getattr(begin, "__qualname__", "connected"), error))


def _raising(error: HandlerError) -> Steps:
    raise error
    yield
