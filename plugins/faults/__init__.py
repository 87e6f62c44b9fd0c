"""Faults: what brokers do to clients on a bad day, done by rules, the same each time.

    - faults: {rules: faults.yaml}

Rules:
* A request is matched when it comes. What is done to its answer is done when that comes, and counts as a firing then.
* Faults are tried in the order of the file. The first that decides what becomes of the request is the last; a delay
  leaves it to the next.
* A fault that cannot be applied to a request (no such field in that version) has not fired: the ledger says why.
* The file is read again when it changes; a fault that stays as it is goes on counting. A bad file changes nothing.
* Only requests of APIs that the file's faults are about are read; of all others the bytes flow on unread. A new file
  that is about more of them says that those have to wait.
* Clients have no fetch sessions while a fault asks which topics they fetch: requests within a session do not say it.

`model.py` is what stands in the file, `effects` what each effect does; `rules` how requests are matched and when faults
fire. Counters are each worker's own: with several workers "three times" means three in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from plugins.acl.authorizer import client_of, described
from plugins.faults import about
from plugins.faults.about import Thing
from plugins.faults.effect import FaultSide, Target, no_answer
from plugins.faults.in_force import FaultsInForce
from plugins.faults.ledger import Ledger, Result
from plugins.faults.model import FORM, OF_THINGS, FaultRule, FaultsFile
from proxy.plugin import (
    FETCH,
    Api,
    Arrival,
    Context,
    Decision,
    ErrorCode,
    FilePath,
    Finding,
    Forward,
    Handler,
    Meaning,
    Plugin,
    Problem,
    Reply,
    Request,
    Response,
    Services,
    Steps,
    Wish,
    refuse,
    values,
)
from proxy.protocol.walk import paths
from rules.conditions import Client
from rules.hosts import java_text
from rules.match import RequestFacts, Subject

FINAL_EPOCH = -1  # of a fetch without a session


@dataclass(slots=True)
class PendingFaults:
    """What is to be done to the answer of a request. `subject`: what the request said for all of it."""

    subject: Subject
    faults: list[tuple[str, FaultRule]] = field(default_factory=list)
    to_answer: list[Any] = field(default_factory=list)


class Faults(Plugin):
    """Do what the file of faults says. Raises BadFileError for a bad file."""

    class Options(Plugin.Options):
        """Which faults there are."""

        rules: FilePath = Field(
            description="The file of faults, read again when it changes. A path is relative to this file.",
            examples=["faults.yaml"],
        )

    @staticmethod
    def examine(options: Faults.Options) -> Iterator[Finding | Problem]:
        """What is wrong with the file of faults."""
        for problem in FORM.read(options.rules).result()[1]:
            if problem.place is None:
                yield Finding(("rules",), f"{options.rules}: {problem.message}", problem.warning)
            else:
                yield problem

    def __init__(self, options: Options, services: Services) -> None:
        super().__init__(options, services)
        self._read: frozenset[Api] = frozenset()  # the APIs whose requests are read
        file = services.watch("faults", options.rules, FORM.load, self._unread)
        self._in_force = FaultsInForce(file, services)

    def _unread(self, file: FaultsFile) -> Iterator[str]:
        """What a new file says that cannot be done yet."""
        meant = {api for fault in file.faults if fault.do.effect.of_requests for api in fault.match.apis}
        if beyond := ", ".join(sorted(api.name for api in meant - self._read)):
            yield f"faults about {beyond} begin when the proxy is started again: it reads no requests of these yet"

    @property
    def ledger(self) -> Ledger:
        """What the faults did, and what came near."""
        return self._in_force.ledger

    def release(self) -> None:
        """Let go on whatever faults hold at this moment. From any thread."""
        self._in_force.release()

    def accepted(self, arrival: Arrival) -> Decision:
        """A client comes to a broker that may be down."""
        faults = self._in_force.of_connections()
        if not faults:
            return None
        host, port = arrival.client
        who, at = Client("", java_text(host), listener=arrival.listener), self.services.clock.wall()
        for name, fault in faults:
            if fault.match.of_connection(who, arrival.broker_id, at) and self._in_force.fires(
                name, fault, None, f"{host}:{port}", arrival.broker_id
            ):
                return fault.do.effect.refuse(name)
        return None

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        """One for each side of each API that faults are about."""
        self._read = self._in_force.apis
        for api in self._read:
            yield Handler(self.request, Wish(Request, api.request, None), position)
            yield Handler(self.response, Wish(Response, api.response, None), position, self._is_pending)

    def request(self, ctx: Context, request: Any) -> Steps:
        """Do what is to be done before the broker, and note what is to be done to the answer."""
        faults = self._matching(ctx)
        if not faults:
            return None
        by_things = any(getattr(fault.match, option) is not None for _, fault in faults for option in OF_THINGS)
        if by_things:
            yield from self._learn_names(ctx, request)
        is_full = False
        if by_things and ctx.api is FETCH and request.session_epoch != FINAL_EPOCH:
            if request.session_epoch > 0:
                return Reply(_gone(ctx, request))
            request.session_epoch, is_full = FINAL_EPOCH, True
        things = list(about.of_request(request, ctx.version, self.services.topics.get))
        pending = PendingFaults(about.subject(request, ctx.version, self.services.topics.get))
        decision = yield from self._before(ctx, request, faults, things, pending)
        if pending.faults or pending.to_answer:
            ctx.notes[self.services.name] = pending
        return Forward(request) if decision is None and is_full else decision

    def _matching(self, ctx: Context) -> list[tuple[str, FaultRule]]:
        """The faults that may be about this request."""
        faults = self._in_force.of_requests(ctx.api)
        if not faults:
            return []
        connection = ctx.connection
        who = client_of(connection) or described(connection, "")  # that only the broker knows: no principal matches it
        facts = RequestFacts(ctx.api, ctx.version, who, connection.broker_id, self.services.clock.wall())
        return [(name, fault) for name, fault in faults if fault.match.of_request(facts)]

    def _learn_names(self, ctx: Context, request: Request) -> Steps:
        """Ask what topics are called of which the request says the id."""
        ids = (topic for path in paths(type(request), Meaning.TOPIC_ID) for topic in values(path, ctx.version, request))
        unknown = self.services.topics.unknown(ids)
        if unknown:
            yield from self.services.topics.ask(unknown)
        return None

    def _before(
        self,
        ctx: Context,
        request: Any,
        faults: list[tuple[str, FaultRule]],
        things: list[Thing],
        pending: PendingFaults,
    ) -> Steps:
        """Try each fault on the request; those that wait for its answer are put into `pending`."""
        for name, fault in faults:
            meant = tuple(thing for thing in things if _is_meant(fault, thing))
            target = self._target(name, fault, ctx, request, pending, meant, all_meant=len(meant) == len(things))
            if not meant:
                self._in_force.note(name, Result.NEAR_MISS, f"it is about {_told(things)}", ctx)
            elif fault.do.effect.at is FaultSide.AFTER_BROKER:
                silent = no_answer(target)
                if silent is None:
                    pending.faults.append((name, fault))
                else:
                    self._in_force.note(name, Result.CANNOT, silent, ctx)
            else:
                decision = yield from self._in_force.apply(name, fault, target)
                if decision is not None:
                    return decision
        return None

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
        return Target(ctx, message, fault.match, subject, self.services.topics.get, holds, meant, all_meant, later)

    def _is_pending(self, ctx: Context) -> bool:
        return self.services.name in ctx.notes

    def response(self, ctx: Context, response: Any) -> Steps:
        """Do what is to be done to the answer."""
        pending: PendingFaults = ctx.notes[self.services.name]
        is_changed = bool(pending.to_answer)
        for do in pending.to_answer:
            do(response)
        for name, fault in pending.faults:
            target = self._target(name, fault, ctx, response, pending)
            decision = yield from self._in_force.apply(name, fault, target)
            if isinstance(decision, Forward):
                is_changed = True
            elif decision is not None:
                return decision
        return Forward(response) if is_changed else None


def _is_meant(fault: FaultRule, thing: Thing) -> bool:
    """Whether a fault is about this; of what shows in the answer alone, whether it may be."""
    if thing.is_open and fault.do.effect.at is FaultSide.AFTER_BROKER:
        return fault.match.of_part(thing.subject)
    return fault.match.of_subject(thing.subject)


def _gone(ctx: Context, request: Request) -> Response:
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
