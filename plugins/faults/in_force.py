"""Faults in force: the present faults, their counts, and the ledger of what they did.

Rules:
* New faults are taken up in the thread of the links, between two requests. A fault that is unchanged keeps its counts,
  unless all begin anew (another seed, another generation).
* A fault is about requests that come while it is in force. One that is removed and added again is another fault, so it
  does not fire at an answer to an earlier request.
* All workers count together, in shared rows. The key of a row has the fault itself, its name, the seed and the
  generation.
* Every application of a fault goes through this class, so that it is counted, logged and noted in one place.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from itertools import count
from types import GeneratorType
from typing import Any

from plugins.faults.effect import Target
from plugins.faults.fault_set import FaultSet, NamedFault
from plugins.faults.ledger import Ledger, LedgerEntry, NotedRequest, Result
from plugins.faults.model import FaultRule
from plugins.faults.near_misses import NearMisses
from plugins.faults.overlay import Overlay
from plugins.faults.releases import FaultReleases
from plugins.faults.replay import Replay
from proxy.plugin import Api, Connection, Context, Decision, Services, Step
from rules.match import RequestFacts, Subject
from rules.trigger import Firing, Triggers, new_row
from rules.unlike import unlike_request

LONGEST = 200  # characters of each text in the ledger
MOST = 1_000  # kinds of requests whose comparison with the faults is cached


class FaultsInForce:
    """The faults of an overlay, as they change."""

    def __init__(self, overlay: Overlay, services: Services, replay: Replay | None = None) -> None:
        self.ledger = Ledger()
        self._replay = replay or Replay({})
        self.overlay, self._services = overlay, services
        self._numbers = count()
        self.releases = FaultReleases(overlay)
        self._near = NearMisses()
        self._memories: dict[str, dict[Any, Any]] = {}  # effects' memories of answers, by the name of the fault
        self._compared: dict[RequestFacts, tuple[NamedFault, ...]] = {}  # the faults that may be about requests
        self._taken = overlay.value
        self._births = {name: next(self._numbers) for name in self._taken.named}  # a number for each time it came
        self._triggers = self._count(self._taken)

    def end(self) -> None:
        """Give up the counts. If no worker counts a fault any more, a later plugin begins at 0."""
        self._services.rows.use((), ())

    def follow(self) -> FaultSet:
        """Take up the present faults. Only from the thread of the links."""
        faults = self.overlay.value
        if faults is not self._taken:
            self._take(faults)
        return faults

    def _take(self, faults: FaultSet) -> None:
        before, self._taken = self._taken, faults
        if faults.generation != before.generation:
            self.ledger.begin_anew()
        goes_on = (faults.seed, faults.generation) == (before.seed, before.generation)
        stay = {name for name, fault in faults.named.items() if goes_on and before.named.get(name) == fault}
        self.ledger.forget(before.named.keys() - stay)
        self.releases.follow(before, faults)
        self._births = {name: self._births[name] if name in stay else next(self._numbers) for name in faults.named}
        self._near.keep(stay)
        self._memories = {name: memory for name, memory in self._memories.items() if name in stay}
        self._compared.clear()
        self._triggers = self._count(faults)

    def _count(self, faults: FaultSet) -> Triggers:
        """Counters for these faults, shared by all workers: a fault that is unchanged keeps its row."""
        shared = self._services.rows
        rows = shared.use(faults.keys.values(), new_row(self._services.clock.read()))
        whens = self._replay.whens({name: fault.when for name, fault in faults.named.items()})
        return Triggers(whens, faults.seed, {name: rows[key] for name, key in faults.keys.items()}, shared.alone)

    def of_request(self, facts: RequestFacts, ctx: Context) -> tuple[NamedFault, ...]:
        """The faults that may be applied to a request, in order. If a single condition fails, it is a near miss.

        The result is cached for all connections whose requests have the same facts.
        """
        faults = self.follow().of_requests(facts.api)
        found = self._compared.get(facts)
        if found is None:
            unlike = {name: unlike_request(fault.match, facts) for name, fault in faults}
            for name, conditions in unlike.items():
                if len(conditions) == 1:
                    self.near_miss(name, conditions[0], ctx)
            found = tuple(it for it in faults if not unlike[it[0]])
            if len(facts.client.client_id or "") <= LONGEST:
                if len(self._compared) == MOST:
                    self._compared.clear()
                self._compared[facts] = found
        return found

    def of_connections(self) -> list[NamedFault]:
        """The faults that may be applied to connections when they are accepted."""
        return self.follow().of_connections

    @property
    def apis(self) -> frozenset[Api]:
        """The APIs whose requests may match. From any thread."""
        return self.overlay.value.apis

    def ends(self, name: str) -> float | None:
        """When the window of this fault is over, in seconds since 1970; None: it stays open."""
        ends, clock = self._triggers.ends(name), self._services.clock
        return None if ends is None else clock.wall() + ends - clock.read()

    @property
    def births(self) -> Mapping[str, int]:
        """A number for each fault in force: another one whenever the fault came anew. It never changes."""
        self.follow()
        return self._births

    def memory(self, name: str) -> dict[Any, Any]:
        """This fault's memory of earlier answers, kept while the fault is unchanged."""
        return self._memories.setdefault(name, {})

    def fires(self, name: str, fault: FaultRule, ctx: Context | None, client: str, broker: int | None) -> Firing | None:
        """Whether this fault fires at a request or a connection that it could be applied to. Counts and notes it."""
        faults = self.follow()
        if faults.named.get(name) != fault:
            return None  # it was removed or changed since the request came
        answer = self._triggers.ask(name, self._services.clock.now)
        if not isinstance(answer, Firing):
            self._note(name, Result.NOT_NOW, answer.why, ctx, client, broker, answer.match)
            return None
        self._replay.note(answer)
        effect = fault.do.said[0]
        self._note(name, Result.FIRED, effect, ctx, client, broker, answer.match)
        told = "Faults that were done to a request or a connection."
        self._services.counter("fired", told, fault=faults.label(name)).add()
        if ctx is not None:
            ctx.decide(self._services.name, effect, name)
        connection, request = (ctx.connection, str(_noted(ctx))) if ctx is not None else (None, "none yet")
        self._services.tell("fault fired", connection, about=name, fault=name, effect=effect, request=request)
        return answer

    def apply(self, name: str, fault: FaultRule, target: Target) -> Generator[Step, Any, Decision]:
        """Apply a fault to a request or its answer, if it can be applied and fires now."""
        cannot = fault.do.effect.cannot(target)
        if cannot is not None:
            self.note(name, Result.CANNOT, cannot, target.ctx)
            return None
        connection = target.ctx.connection
        firing = self.fires(name, fault, target.ctx, _whose(connection), connection.broker_id)
        if firing is None:
            return None
        decision = fault.do.effect.apply(target, firing)
        if isinstance(decision, GeneratorType):
            decision = yield from decision
        return decision  # type: ignore[return-value]

    def note(self, name: str, result: Result, why: str, ctx: Context) -> None:
        """Note a result about a request in the ledger."""
        self._note(name, result, why, ctx, _whose(ctx.connection), ctx.connection.broker_id, None)

    def compare(self, name: str, fault: FaultRule, subject: Subject, ctx: Context) -> None:
        """Note why a fault is not about this subject of a request."""
        if why := self._near.unlike(name, fault.match, subject):
            self.near_miss(name, why, ctx)

    def near_miss(self, name: str, why: str, ctx: Context) -> None:
        """Note a request that did not match for this one reason."""
        if self._near.is_new(name, why):
            self.note(name, Result.NEAR_MISS, why, ctx)

    def _note(
        self,
        name: str,
        result: Result,
        why: str,
        ctx: Context | None,
        client: str,
        broker: int | None,
        match: int | None,
    ) -> None:
        at, request = self._services.clock.wall(), _noted(ctx) if ctx is not None else None
        self.ledger.note(LedgerEntry(at, name, result, why[:LONGEST], client, broker, request, match))


def _noted(ctx: Context) -> NotedRequest:
    client_id = ctx.client_id and ctx.client_id[:LONGEST]
    return NotedRequest(ctx.api.name, ctx.version, ctx.correlation_id, ctx.connection.number, client_id)


def _whose(connection: Connection) -> str:
    host, port = connection.client
    return f"{host}:{port}"
