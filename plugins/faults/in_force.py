"""Faults in force: as they are now, what they counted, and the ledger of what they did.

# Other faults are taken in the thread of the links, between two requests. One that stays as it is goes on counting,
# unless all of them begin anew (another seed, another generation).
# All workers count together, in rows that belong to a fault as it is, by its name, the seed and the generation.
# Whatever is done to anything is asked for here, so that it is counted, told and noted in one place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from types import GeneratorType
from typing import Any

from plugins.faults.effect import Target
from plugins.faults.fault_set import FaultSet, NamedFault
from plugins.faults.ledger import Ledger, LedgerEntry, NotedRequest, Result
from plugins.faults.model import FaultRule
from plugins.faults.overlay import Overlay
from plugins.faults.replay import Replay
from proxy.plugin import Api, Connection, Context, Decision, Services, Step
from rules.match import RequestFacts
from rules.trigger import Firing, Triggers, new_row
from rules.unlike import unlike_request

LONGEST = 200  # characters of what is noted of a request
MOST = 1_000  # kinds of requests that were compared with the faults
FEW = 10  # near misses of one fault that are noted, each for another reason


class FaultsInForce:
    """The faults of an overlay, which may change."""

    def __init__(self, overlay: Overlay, services: Services, replay: Replay | None = None) -> None:
        self.ledger = Ledger()
        self._replay = replay or Replay({})
        self.overlay, self._services = overlay, services
        self._releases: Counter[str] = Counter()  # by faults
        self._is_replaced = False
        self._near: dict[str, set[str]] = {}  # why requests were none that a fault is about, by its name
        self._memories: dict[str, dict[Any, Any]] = {}  # what effects remember of answers, by names of faults
        self._compared: dict[RequestFacts, tuple[NamedFault, ...]] = {}  # which faults may be about requests
        self._taken = overlay.value
        self._triggers = self._count(self._taken)

    def end(self) -> None:
        """Nothing is counted any more: what no worker counts begins anew, should the plugin come back."""
        self._services.rows.use((), ())

    def follow(self) -> FaultSet:
        """Take the faults as they are now. From the thread of the links alone."""
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
        for name in before.named.keys() - faults.named.keys():
            self._releases.pop(name, None)
        self._near = {name: near for name, near in self._near.items() if name in stay}
        self._memories = {name: memory for name, memory in self._memories.items() if name in stay}
        self._compared.clear()
        self._triggers = self._count(faults)

    def _count(self, faults: FaultSet) -> Triggers:
        """Go on counting what stays, and begin with the rest, for all workers or with them."""
        shared = self._services.rows
        rows = shared.use(faults.keys.values(), new_row(self._services.clock.read()))
        whens = {name: self._replay.when(name, fault.when) for name, fault in faults.named.items()}
        return Triggers(whens, faults.seed, {name: rows[key] for name, key in faults.keys.items()}, shared.alone)

    def of_request(self, facts: RequestFacts, ctx: Context) -> tuple[NamedFault, ...]:
        """Those that may be done to a request, by name and in order. One condition that alone is unlike is a near miss.

        Whose requests were compared before, on another connection, need not be compared again.
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
        """Those that may be done to connections when they are accepted."""
        return self.follow().of_connections

    @property
    def apis(self) -> frozenset[Api]:
        """The APIs whose requests may be meant. From any thread."""
        return self.overlay.value.apis

    def is_same(self, name: str, fault: FaultRule) -> bool:
        """Whether this fault is still there, as it is."""
        return self.overlay.value.named.get(name) == fault

    def memory(self, name: str) -> dict[Any, Any]:
        """What this fault remembers from one answer to the next, as long as it stays as it is."""
        return self._memories.setdefault(name, {})

    def release(self, name: str) -> None:
        """Let go on whatever this fault holds at this moment. From any thread."""
        self._releases[name] += 1

    def release_all(self) -> None:
        """Others are in the place of these: hold nothing any more, since whoever releases speaks to them."""
        self._is_replaced = True

    def holding(self, name: str, fault: FaultRule) -> Callable[[], bool]:
        """Whether what this fault holds from now on is to be held still: it stays as it is, and nobody released it."""
        releases, generation = self._releases[name], self._taken.generation

        def is_held() -> bool:
            released = self._releases[name] != releases or self.overlay.value.generation != generation
            return not (released or self._is_replaced) and self.is_same(name, fault)

        return is_held

    def fires(self, name: str, fault: FaultRule, ctx: Context | None, client: str, broker: int | None) -> Firing | None:
        """This fault could be done to a request, or to a connection: is it to be?"""
        faults = self.follow()
        if faults.named.get(name) != fault:
            return None  # it is gone, or another, since the request came
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
        """Do what a fault does to a request or its answer, if it can be done and is to be done now."""
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
        """Something about a request for the ledger."""
        self._note(name, result, why, ctx, _whose(ctx.connection), ctx.connection.broker_id, None)

    def near_miss(self, name: str, why: str, ctx: Context) -> None:
        """A request that this fault is not about, for this reason alone. Of each fault the first few are noted."""
        noted = self._near.setdefault(name, set())
        if len(noted) < FEW and why not in noted:
            noted.add(why)
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
