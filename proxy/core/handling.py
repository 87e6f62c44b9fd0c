"""Handling: the handlers of a frame in order, requests downwards, responses upwards.

Rules:
* Every handler sees the message as the handlers before it left it: the one that came, or the last one forwarded.
* A `Reply` ends the way down. It goes up through the response handlers of the plugins that the request had passed, as
  the broker's answer would have.
* A decision on how a frame leaves (`Raw` with a function, `Cut`, `Drip`) does not end the way: the handlers that follow
  see the message. After `Raw` with bytes and after `Disconnect` no further handler is called.
* `handling_steps` yields the steps of the handlers that wait, and returns what is to be done.
* Handlers of large messages are called in a fiber, so that other connections have their turn while a handler runs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from types import GeneratorType
from typing import Any, NamedTuple

from proxy.core.context import Context
from proxy.core.decisions import Cut, Decision, Disconnect, Drip, Forward, Raw, Reply, Step
from proxy.core.failure import FAILURES
from proxy.core.filter_chain import FilterChain
from proxy.core.steps import HandlerError, checked
from proxy.core.wish import Handler
from proxy.protocol.fiber import in_slices
from proxy.protocol.schema import Message, Response

Manner = Raw | Cut | Drip


class Decided(NamedTuple):
    """What the handlers decided, and the manners in which the frame then leaves, applied one after the other."""

    decision: Forward | Reply | Disconnect | None
    manners: tuple[Manner, ...] = ()


def handling_steps(
    handlers: Iterable[Handler], chain: FilterChain, ctx: Context, message: Message
) -> Generator[Step, Any, Decided]:
    """Show a message to these handlers, one after the other."""
    forward: Forward | None = None
    manners: tuple[Manner, ...] = ()
    for handler in handlers:
        decision = _decide(handler, ctx, message)
        if type(decision) is GeneratorType:
            decision = yield from decision
        match decision:
            case Forward():
                forward, message = _joined(forward, decision), decision.message
            case Disconnect():
                return Decided(decision)
            case Raw() | Cut() | Drip():
                manners += (decision,)
                if _is_final(decision):
                    break
            case Reply():
                return (yield from _reply(chain, ctx, decision, handler.position))
    return Decided(forward, manners)


def _is_final(manner: Manner) -> bool:
    """Is it irrelevant what the handlers that follow would decide?"""
    return isinstance(manner, Raw) and not callable(manner.data)


def _joined(before: Forward | None, now: Forward) -> Forward:
    """The decisions of two handlers on one frame: the second's message, sent as both of them say."""
    if before is None:
        return now
    version = before.version if now.version is None else now.version
    return Forward(now.message, now.end or before.end, version, before.copies * now.copies)


def _reply(chain: FilterChain, ctx: Context, reply: Reply, position: int) -> Generator[Step, Any, Decided]:
    answering = chain.response.handlers if chain.response else ()
    above = [handler for handler in answering if handler.position < position]
    decision, manners = yield from handling_steps(above, chain, ctx, reply.message)
    if isinstance(decision, Forward) and isinstance(decision.message, Response):
        return Decided(Reply(decision.message, reply.version, reply.end), manners)
    return Decided(decision or reply, manners)


def _decide(handler: Handler, ctx: Context, message: Message) -> Any:
    """One handler's decision, noted unless it is None; or the steps that return it. They raise HandlerError."""
    try:
        if handler.needed is not None and not handler.wants(ctx, message):
            return None
        if ctx.is_large:
            return _steps(handler, ctx, message, in_slices(handler.call, ctx, message))
        decision = handler.call(ctx, message)
    except FAILURES as error:
        raise HandlerError(handler, error) from None
    if type(decision) is GeneratorType:
        return _steps(handler, ctx, message, checked(decision, ctx))
    return _noted(handler, ctx, message, decision)


def _steps(
    handler: Handler, ctx: Context, message: Message, steps: Generator[Step, Any, Any]
) -> Generator[Step, Any, Decision]:
    """The same for a handler that takes steps, or is called in slices."""
    try:
        decision = yield from steps
        if type(decision) is GeneratorType:
            decision = yield from checked(decision, ctx)
    except FAILURES as error:
        raise HandlerError(handler, error) from None
    return _noted(handler, ctx, message, decision)


def _noted(handler: Handler, ctx: Context, message: Message, decision: Any) -> Decision:
    """Check that the handler may decide so, and note that it did. Raises HandlerError."""
    if decision is None:
        return None
    problem = _problem(decision, ctx, message)
    if problem is not None:
        raise HandlerError(handler, TypeError(problem))
    ctx.decide(handler.name, type(decision).__name__)
    decided: Decision = decision
    return decided


def _problem(decision: object, ctx: Context, message: Message) -> str | None:
    """Why a handler of this message cannot decide so; None: it can."""
    match decision:
        case Forward():
            if type(decision.message) is not type(message):
                return f"a {type(message).__name__} cannot become {decision.message!r}"
            if isinstance(message, Response) and (decision.version is not None or decision.copies != 1):
                return "a response is sent once, in the version that was asked for"
            return None if decision.copies > 0 else f"{decision.copies} copies cannot be sent"
        case Raw() | Cut() | Drip() | Disconnect():
            return None
        case Reply():
            if isinstance(message, Response):
                return "a response is changed with Forward, not with Reply"
            if type(decision.message) is not ctx.api.response:
                return f"{ctx.api.name} is not answered with {decision.message!r}"
            return None
        case _:
            return f"{decision!r} is no decision"
