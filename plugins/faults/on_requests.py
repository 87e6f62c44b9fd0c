"""Faults on requests: each fault is tried on a request when it comes, or on its answer when that comes.

Rules:
* A request is matched once, thing by thing. Faults on its answer wait in the notes of its context. Only an answer for
  which a fault waits is read.
* Each fault is tried on the request as the earlier ones left it. One that answers, or ends the connection, is the last:
  for each later fault that was meant, the ledger says why it was not applied.
* How a frame leaves (cut, dripping, other bytes) is decided by a second handler, after the content of the frame.
* Things that a fault may be about are never in a fetch session: a request within a session does not name them all.
  Of a share session only the answers are about all its topics.
"""

from __future__ import annotations

from typing import Any

from plugins.faults import about
from plugins.faults.connection_faults import ConnectionFaults, UnmeantSession, faults_of
from plugins.faults.effect import FaultSide, no_answer
from plugins.faults.fault_set import NamedFault
from plugins.faults.in_force import FaultsInForce
from plugins.faults.ledger import Result
from plugins.faults.model import FaultRule
from plugins.faults.pending import PendingFaults, ended
from plugins.faults.trials import FaultTrials, is_meant
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

FINAL_EPOCH = -1  # of a fetch without a session


class RequestFaults:
    """Applies faults to requests and their answers."""

    def __init__(self, in_force: FaultsInForce, services: Services) -> None:
        self._in_force, self._services = in_force, services
        self.key = services.name
        self._name_of = services.topics.get
        self._trials = FaultTrials(in_force, self._name_of)

    def request(self, ctx: Context, request: Any) -> Steps:
        """Apply the effects before the broker, and note those on the answer."""
        faults = self._matching(ctx)
        if not faults:
            return None
        sessionless = False
        if self._on_elements(faults, ctx):
            if any(fault.match.of_things for _, fault in faults):
                yield from self._learn_names(ctx, request)
            if ctx.api is FETCH and request.session_epoch != FINAL_EPOCH:
                is_open = request.session_epoch > 0
                if self._names_any(faults, ctx, request):
                    request.session_epoch, sessionless = FINAL_EPOCH, True
                if is_open and (sessionless or not self._faults_of(ctx).session.goes_on(faults, request)):
                    return Reply(_forgotten(ctx, request))
                if not is_open and not sessionless:
                    self._faults_of(ctx).session = UnmeantSession(faults)
        pending = PendingFaults(about.subject(request, ctx.version, self._name_of), self._in_force.births)
        decision = yield from self._before(ctx, request, faults, pending)
        if pending:
            ctx.notes[self.key] = pending
        return Forward(request) if decision is None and sessionless else decision

    def _matching(self, ctx: Context) -> list[NamedFault]:
        """The faults that may be about this request."""
        faults = self._faults_of(ctx).of(ctx)
        at = self._services.clock.wall()
        return [(name, fault) for name, fault in faults if fault.match.is_now(at)]

    def _faults_of(self, ctx: Context) -> ConnectionFaults:
        return faults_of(ctx.connection, self.key, self._in_force)

    def _names_any(self, faults: list[NamedFault], ctx: Context, request: Any) -> bool:
        """Whether one of these faults is about single elements of a request, and they are named or may be."""
        on_elements = self._on_elements(faults, ctx)
        things = about.of_request(request, ctx.version, self._name_of)
        return any(is_meant(fault, thing) for thing in turns(things) for fault in on_elements)

    @staticmethod
    def _on_elements(faults: list[NamedFault], ctx: Context) -> list[FaultRule]:
        """The faults that are about single elements of a request: its topics, partitions and the like."""
        return [it for _, it in faults if it.match.of_things or it.do.effect.answers_elements(ctx)]

    def _learn_names(self, ctx: Context, request: Request) -> Steps:
        """Ask for the names of topics of which the request has the id."""
        ids = (topic for path in paths(type(request), Meaning.TOPIC_ID) for topic in values(path, ctx.version, request))
        unknown = self._services.topics.unknown(ids)
        if unknown:
            yield from self._services.topics.ask(unknown)
        return None

    def _before(self, ctx: Context, request: Any, faults: list[NamedFault], pending: PendingFaults) -> Steps:
        """Try each fault on the request. Faults on its answer are put into `pending`."""
        forward: Forward | None = None
        asked = things = list(about.of_request(request, ctx.version, self._name_of))
        pending.asks_all = any(thing.is_open for thing in things)
        for position, (name, fault) in enumerate(faults, 1):
            meant = tuple(thing for thing in turns(things) if is_meant(fault, thing))
            if not meant:
                self._trials.note_unmeant(ctx, name, fault, things, asked)
                continue
            target = self._trials.target(name, fault, ctx, request, pending, meant, all_meant=len(meant) == len(things))
            if fault.do.effect.at is FaultSide.AFTER_BROKER:
                silent = no_answer(target)
                if silent is None:
                    pending.faults.append((name, fault))
                    if all(thing.is_open for thing in meant):
                        pending.open.add(name)
                else:
                    self._in_force.note(name, Result.CANNOT, silent, ctx)
                continue
            decision = yield from self._trials.apply(name, fault, target, pending)
            if isinstance(decision, Forward):
                if decision.copies > 1:
                    pending.leaves(name, None)
                forward = Forward(request, copies=max(decision.copies, forward.copies if forward else 1))
                things = list(about.of_request(request, ctx.version, self._name_of))  # those that are left
            elif isinstance(decision, Raw | Cut | Drip):
                pending.leaves(name, decision)
            elif decision is not None:
                if isinstance(decision, Reply):
                    pending.do_all(decision.message)
                behind = (it for it in faults[position:] if any(is_meant(it[1], thing) for thing in turns(things)))
                self._trials.note_all(ctx, (*pending.faults, *behind), ended(name, decision))
                return decision
        return forward

    def is_pending(self, ctx: Context) -> bool:
        """Whether anything is to be applied to the answer."""
        pending: PendingFaults | None = ctx.notes.get(self.key)
        return pending is not None and bool(pending.faults or pending.to_answer)

    def response(self, ctx: Context, response: Any) -> Steps:
        """Apply the effects on the answer."""
        pending: PendingFaults = ctx.notes[self.key]
        pending.next_frame()
        is_changed = pending.do_all(response)
        for position, (name, fault) in enumerate(pending.faults, 1):
            target = self._trials.target(name, fault, ctx, response, pending)
            fault.do.effect.remember(target)
            decision = yield from self._trials.apply(name, fault, target, pending)
            if isinstance(decision, Forward):
                is_changed = True
            elif isinstance(decision, Raw | Cut | Drip):
                pending.leaves(name, decision)
            elif decision is not None:
                self._trials.note_all(ctx, pending.faults[position:], ended(name, decision))
                return decision
        return Forward(response) if is_changed else None

    def leaves_oddly(self, ctx: Context) -> bool:
        """Whether the frame leaves otherwise than whole and at once."""
        pending: PendingFaults | None = ctx.notes.get(self.key)
        return pending is not None and pending.leaving is not None

    def leave(self, ctx: Context, message: Any) -> Decision:
        """Decide how the frame leaves."""
        pending: PendingFaults = ctx.notes[self.key]
        return pending.take_leaving()


def _forgotten(ctx: Context, request: Request) -> Response:
    """The answer of a broker that does not know the fetch session: the client then asks for everything again."""
    code = ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    answer = refuse(ctx.api, ctx.version, request, code)
    assert answer is not None
    return answer
