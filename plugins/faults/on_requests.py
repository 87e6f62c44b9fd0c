"""Faults on requests: each is tried on a request when it comes, and on its answer when that comes.

# A request is matched once, thing by thing. Faults of its answer wait in the notes of its context, and only an answer
# for which one waits is read.
# What one fault leaves of a request the next is tried on. An answer of ours, and an end of the connection, are last.
# How a frame leaves (cut, dripping, other bytes) is said by a handler of its own, after what it says is decided.
# Clients have no fetch sessions while a fault asks which topics they fetch: requests within a session do not say it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from plugins.faults import about
from plugins.faults.about import Thing
from plugins.faults.effect import FaultSide, Target, no_answer
from plugins.faults.in_force import FaultsInForce
from plugins.faults.ledger import Result
from plugins.faults.model import OF_THINGS, FaultRule
from proxy.plugin import (
    FETCH,
    Context,
    Cut,
    Decision,
    Drip,
    ErrorCode,
    Forward,
    Meaning,
    Raw,
    Reply,
    Request,
    Response,
    Services,
    Steps,
    refuse,
    turns,
    values,
)
from proxy.plugin.schema import paths
from rules.clients import client_as, client_of
from rules.match import RequestFacts, Subject

FINAL_EPOCH = -1  # of a fetch without a session


@dataclass(slots=True)
class PendingFaults:
    """What is to be done yet. `subject`: what the request said for all of it; `leaving`: how the frame leaves."""

    subject: Subject
    faults: list[tuple[str, FaultRule]] = field(default_factory=list)
    to_answer: list[Callable[[Response], None]] = field(default_factory=list)
    leaving: Raw | Cut | Drip | None = None


class RequestFaults:
    """What faults do to requests and their answers."""

    def __init__(self, in_force: FaultsInForce, services: Services) -> None:
        self._in_force, self._services = in_force, services
        self._key = services.name
        self._name_of = services.topics.get

    def request(self, ctx: Context, request: Any) -> Steps:
        """Do what is to be done before the broker, and note what is to be done to the answer."""
        faults = self._matching(ctx)
        if not faults:
            return None
        sessionless = False
        if any(getattr(fault.match, option) is not None for _, fault in faults for option in OF_THINGS):
            yield from self._learn_names(ctx, request)
            if ctx.api is FETCH and request.session_epoch > 0:
                return Reply(_forgotten(ctx, request))
            if ctx.api is FETCH and request.session_epoch == 0:
                request.session_epoch, sessionless = FINAL_EPOCH, True
        pending = PendingFaults(about.subject(request, ctx.version, self._name_of))
        decision = yield from self._before(ctx, request, faults, pending)
        if pending.faults or pending.to_answer or pending.leaving:
            ctx.notes[self._key] = pending
        return Forward(request) if decision is None and sessionless else decision

    def _matching(self, ctx: Context) -> list[tuple[str, FaultRule]]:
        """The faults that may be about this request."""
        faults = self._in_force.of_requests(ctx.api)
        if not faults:
            return []
        connection = ctx.connection
        who = client_of(connection) or client_as(connection, "")  # that only the broker knows: no principal matches it
        facts = RequestFacts(ctx.api, ctx.version, who, connection.broker_id, self._services.clock.wall())
        return [(name, fault) for name, fault in faults if fault.match.of_request(facts)]

    def _learn_names(self, ctx: Context, request: Request) -> Steps:
        """Ask what topics are called of which the request says the id."""
        ids = (topic for path in paths(type(request), Meaning.TOPIC_ID) for topic in values(path, ctx.version, request))
        unknown = self._services.topics.unknown(ids)
        if unknown:
            yield from self._services.topics.ask(unknown)
        return None

    def _before(self, ctx: Context, request: Any, faults: list[tuple[str, FaultRule]], pending: PendingFaults) -> Steps:
        """Try each fault on the request; those that wait for its answer are put into `pending`."""
        forward: Forward | None = None
        things = list(about.of_request(request, ctx.version, self._name_of))
        for name, fault in faults:
            meant = tuple(thing for thing in turns(things) if _is_meant(fault, thing))
            if not meant:
                if any(_is_near(fault, thing) for thing in turns(things)):
                    self._in_force.note(name, Result.NEAR_MISS, f"it is about {_told(things)}", ctx)
                continue
            target = self._target(name, fault, ctx, request, pending, meant, all_meant=len(meant) == len(things))
            if fault.do.effect.at is FaultSide.AFTER_BROKER:
                silent = no_answer(target)
                if silent is None:
                    pending.faults.append((name, fault))
                else:
                    self._in_force.note(name, Result.CANNOT, silent, ctx)
            else:
                decision = yield from self._in_force.apply(name, fault, target)
                if isinstance(decision, Forward):
                    copies = max(decision.copies, forward.copies if forward else 1)
                    forward = Forward(request, copies=copies)
                    things = list(about.of_request(request, ctx.version, self._name_of))  # those that are left
                elif isinstance(decision, Raw | Cut | Drip):
                    pending.leaving = decision
                elif decision is not None:
                    if isinstance(decision, Reply):
                        _do_all(pending, decision.message)
                    return decision
        return forward

    def _target(
        self,
        name: str,
        fault: FaultRule,
        ctx: Context,
        message: Any,
        pending: PendingFaults,
        meant: tuple[Thing, ...] = (),
        *,
        all_meant: bool = True,
    ) -> Target:
        holds = self._in_force.holding(name, fault)
        subject, later = pending.subject, pending.to_answer
        return Target(ctx, message, fault.match, subject, self._name_of, holds, meant, all_meant, later)

    def is_pending(self, ctx: Context) -> bool:
        """Is there anything to do to the answer?"""
        pending: PendingFaults | None = ctx.notes.get(self._key)
        return pending is not None and bool(pending.faults or pending.to_answer)

    def response(self, ctx: Context, response: Any) -> Steps:
        """Do what is to be done to the answer."""
        pending: PendingFaults = ctx.notes[self._key]
        is_changed = _do_all(pending, response)
        for name, fault in pending.faults:
            target = self._target(name, fault, ctx, response, pending)
            decision = yield from self._in_force.apply(name, fault, target)
            if isinstance(decision, Forward):
                is_changed = True
            elif isinstance(decision, Raw | Cut | Drip):
                pending.leaving = decision
            elif decision is not None:
                return decision
        return Forward(response) if is_changed else None

    def leaves_oddly(self, ctx: Context) -> bool:
        """Does the frame leave in another manner than whole and at once?"""
        pending: PendingFaults | None = ctx.notes.get(self._key)
        return pending is not None and pending.leaving is not None

    def leave(self, ctx: Context, message: Any) -> Decision:
        """Say how it leaves."""
        pending: PendingFaults = ctx.notes[self._key]
        leaving, pending.leaving = pending.leaving, None
        return leaving


def _do_all(pending: PendingFaults, answer: Response) -> bool:
    """Do to an answer what is to be done to it in any case. Gives whether there was anything."""
    for do in pending.to_answer:
        do(answer)
    return bool(pending.to_answer)


def _is_meant(fault: FaultRule, thing: Thing) -> bool:
    """Whether a fault is about this; of what shows in the answer alone, whether it may be."""
    if thing.is_open and fault.do.effect.at is FaultSide.AFTER_BROKER:
        return fault.match.of_part(thing.subject)
    return fault.match.of_subject(thing.subject)


def _is_near(fault: FaultRule, thing: Thing) -> bool:
    """Whether this is of the kind that a fault is about."""
    asked = (option for option in OF_THINGS if getattr(fault.match, option) is not None)
    return all(getattr(thing.subject, option) is not None for option in asked)


def _forgotten(ctx: Context, request: Request) -> Response:
    """What a broker answers that has forgotten a fetch session: the client asks for all it wants."""
    code = ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    answer = refuse(ctx.api, ctx.version, request, code)
    assert answer is not None
    return answer


def _told(things: list[Thing]) -> str:
    """The first few things that a request is about, for people."""
    said = []
    for thing in things[:3]:
        known = {name: value for name, value in thing.subject._asdict().items() if value is not None}
        said.append(" ".join(f"{name} {str(value)[:60]}" for name, value in known.items()) or "nothing by name")
    more = len(things) - len(said)
    return ", ".join(said) + (f" and {more} more" if more else "")
