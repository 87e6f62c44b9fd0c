"""Faults in force: those of the file as it is now, what they counted, and the ledger of what they did.

# Another file is taken in the thread of the links, between two requests. A fault that stays as it is goes on counting.
# Whatever is done to anything is asked for here, so that it is counted, told and noted in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from types import GeneratorType
from typing import Any

from plugins.faults.effect import Target
from plugins.faults.ledger import Ledger, LedgerEntry, Result
from plugins.faults.model import FaultRule, FaultsFile
from proxy.plugin import Api, Connection, Context, Decision, Services, Step
from proxy.plugin.files import WatchedFile
from rules.trigger import Firing, Triggers

LONGEST = 200  # characters of what is noted of a request


class FaultsInForce:
    """The faults of a file that may change."""

    def __init__(self, file: WatchedFile[FaultsFile], services: Services) -> None:
        self.ledger = Ledger()
        self._file, self._services = file, services
        self._releases = 0
        self.named: dict[str, FaultRule] = {}
        self._take(file.value, Triggers({}, file.value.seed, 0.0))

    def _take(self, file: FaultsFile, before: Triggers) -> None:
        known = self.named
        self._taken = file
        self.named = file.named
        stay = file.seed == before.seed
        kept = {name: before.counts[name] for name, it in self.named.items() if stay and known.get(name) == it}
        whens = {name: fault.when for name, fault in self.named.items()}
        self._triggers = Triggers(whens, file.seed, self._services.clock.now, kept)
        self._by_api: dict[Api, list[tuple[str, FaultRule]]] = {}
        for name, fault in self.named.items():
            for api in fault.match.apis if fault.do.effect.of_requests else ():
                self._by_api.setdefault(api, []).append((name, fault))

    def _follow(self) -> None:
        if self._file.value is not self._taken:
            self._take(self._file.value, self._triggers)

    def of_requests(self, api: Api) -> list[tuple[str, FaultRule]]:
        """Those that may be done to requests of this API, as the file is now, by name and in order."""
        self._follow()
        return self._by_api.get(api, [])

    def of_connections(self) -> list[tuple[str, FaultRule]]:
        """Those that may be done to connections when they are accepted."""
        self._follow()
        return [(name, fault) for name, fault in self.named.items() if fault.do.effect.of_connections]

    @property
    def apis(self) -> frozenset[Api]:
        """The APIs whose requests may be meant, as the file is now. From any thread."""
        return self._file.value.apis

    def is_same(self, name: str, fault: FaultRule) -> bool:
        """Whether this fault is still in the file, as it is."""
        return self._file.value.named.get(name) == fault

    def release(self) -> None:
        """Let go on whatever faults hold at this moment. From any thread."""
        self._releases += 1

    def holding(self, name: str, fault: FaultRule) -> Callable[[], bool]:
        """Whether what this fault holds from now on is to be held still."""
        releases = self._releases
        return lambda: self._releases == releases and self.is_same(name, fault)

    def fires(self, name: str, fault: FaultRule, ctx: Context | None, client: str, broker: int | None) -> Firing | None:
        """This fault could be done to a request, or to a connection: is it to be?"""
        if self.named.get(name) != fault:
            return None  # it left the file, or changed, while the broker answered
        answer = self._triggers.ask(name, self._services.clock.now)
        if not isinstance(answer, Firing):
            self._note(name, Result.NOT_NOW, answer.why, ctx, client, broker, answer.match)
            return None
        effect = fault.do.said[0]
        self._note(name, Result.FIRED, effect, ctx, client, broker, answer.match)
        self._services.counter("fired", "Faults that were done to a request or a connection.", fault=name).add()
        connection, request = (ctx.connection, _label(ctx)) if ctx is not None else (None, "none yet")
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
        at, request = self._services.clock.wall(), _label(ctx) if ctx is not None else None
        self.ledger.note(LedgerEntry(at, name, result, why[:LONGEST], client, broker, request, match))


def _label(ctx: Context) -> str:
    return f"{ctx.api.name} v{ctx.version} #{ctx.correlation_id}"


def _whose(connection: Connection) -> str:
    host, port = connection.client
    return f"{host}:{port}"
