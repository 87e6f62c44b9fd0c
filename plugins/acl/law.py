"""The law: the rules in force, and what each client may do by them.

# The rules are asked anew for every request: a snapshot that was replaced a moment ago decides nothing any more.
# Answers are kept per connection for as long as they cannot change: while the snapshot, the client and, where a rule
# says when it holds, the second are the same. `edition` stands for all three: with another one all is asked again.
# A client that authenticated, but only its broker knows as whom, may do nothing. One that nobody asked is ANONYMOUS.
# In shadow everything is allowed and every refusal recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from proxy.core.context import Connection, Context
from proxy.core.events import Denied
from proxy.protocol.api import Api
from proxy.protocol.fiber import turn
from proxy.text.watched import WatchedFile
from rules import Client, Decision, Operation, ResourceType, Snapshot, Why
from rules.hosts import java_text
from rules.vocabulary import CLUSTER_NAME

ANONYMOUS = "User:ANONYMOUS"
UNKNOWN = Decision(False, Why.NOT_ALLOWED)
MOST = 10_000  # answers kept for one connection
ANSWER = 200  # bytes that one takes, with its name
LONGEST = 249  # characters of a name whose answer is kept: Kafka's longest name of a topic
TOLD = 100  # refusals of one request of which events tell; all are counted


class Law:
    """The rules of one cluster's clients. `now` gives seconds since 1970 UTC."""

    def __init__(self, rules: WatchedFile[Snapshot], now: Callable[[], float], *, shadow: bool) -> None:
        self.rules = rules
        self.now = now
        self.shadow = shadow
        self.refused: Counter[str] = Counter()  # by the names of measures
        self.is_timed = False  # does a rule say when it holds?
        self._seen: Snapshot | None = None

    def edition(self) -> tuple[Snapshot, int]:
        """The rules as they are now, and the second where that matters (0 elsewhere)."""
        snapshot = self.rules.value
        if snapshot is not self._seen:
            self._seen = snapshot
            self.is_timed = any(rule.acl.during is not None for rule in snapshot.rules)
        return snapshot, int(self.now()) if self.is_timed else 0


class Rights:
    """What one connection's client may do. `edition` changes with every change that may change an answer."""

    __slots__ = (
        "_at",
        "_client",
        "_client_id",
        "_connection",
        "_known",
        "_law",
        "_mechanism",
        "_principal",
        "_rules",
        "_untold",
        "edition",
        "recorded",
    )

    def __init__(self, law: Law, connection: Connection) -> None:
        self._law = law
        self._connection = connection
        self._rules: Snapshot | None = None  # those that were asked last, when, and for whom
        self._at = 0
        self._principal: str | None = None
        self._mechanism: str | None = None
        self._client_id: str | None = None
        self._client: Client | None = None
        self._known: dict[tuple[int, int], dict[str, Decision]] = {}
        self.edition: object = None
        self.recorded = 0  # refusals so far
        self._untold = TOLD

    def of_request(self) -> Rights:
        """For another request: as they are now, and told of anew."""
        self._untold = TOLD
        self.current()
        return self

    def current(self) -> object:
        """Go by the rules and the client as they are now. Gives the edition."""
        law, connection = self._law, self._connection
        if (
            law.rules.value is not self._rules
            or law.is_timed
            or connection.principal is not self._principal
            or connection.mechanism is not self._mechanism
            or connection.client_id is not self._client_id
        ):
            self._renew(connection.principal, connection.mechanism, connection.client_id)
        return self.edition

    def _renew(self, principal: str | None, mechanism: str | None, client_id: str | None) -> None:
        """Something may be another: what is equal is the same."""
        rules, at = self._law.edition()
        before = self._rules, self._at, self._principal, self._mechanism, self._client_id
        self._rules, self._at = rules, at
        self._principal, self._mechanism, self._client_id = principal, mechanism, client_id
        if before != (rules, at, principal, mechanism, client_id):
            self._client = client(self._connection)
            self._known = {}
            self.edition = object()

    def decide(self, operation: Operation, kind: ResourceType, name: str) -> Decision:
        """The rules' answer. Whoever asks called `current` for this request."""
        turn()
        known = self._known.get((operation, kind))
        if known is None:
            known = self._known[operation, kind] = {}
        decision = known.get(name)
        if decision is None:
            if self._client is None or self._rules is None:
                return UNKNOWN
            decision = self._rules.decide(self._client, operation, kind, name, self._law.now())
            if len(known) >= MOST:
                known.clear()
            if len(name) <= LONGEST:
                known[name] = decision
        return decision

    @property
    def held(self) -> int:
        """Bytes that the answers take, at a guess."""
        return ANSWER * sum(map(len, self._known.values()))

    def let_go(self) -> None:
        """Forget the answers: they can be had again."""
        self._known = {}

    def may(self, operation: Operation, kind: ResourceType, name: str = CLUSTER_NAME) -> bool:
        """Whether the rules allow it, whatever is enforced; nothing is recorded."""
        return self.decide(operation, kind, name).allowed

    def refuses(
        self,
        api: Api,
        operation: Operation,
        kind: ResourceType,
        name: str = CLUSTER_NAME,
        *,
        or_cluster: Operation | None = None,
    ) -> bool:
        """Whether this is to be refused; a refusal is recorded. `or_cluster`: who may do that to the cluster may."""
        decision = self.decide(operation, kind, name)
        if decision.allowed or (or_cluster is not None and self.may(or_cluster, ResourceType.CLUSTER)):
            return False
        return self.record(api, operation, kind, name, decision)

    def refuses_any(self, api: Api, operation: Operation, kind: ResourceType) -> bool:
        """Whether this is to be refused whatever the resource of this type (KIP-679)."""
        if self._client is None or self._rules is None:
            return self.record(api, operation, kind, "any", UNKNOWN)
        decision = self._rules.decide_by_type(self._client, operation, kind, self._law.now())
        return not decision.allowed and self.record(api, operation, kind, "any", decision)

    def record(self, api: Api, operation: Operation, kind: ResourceType, name: str, decision: Decision) -> bool:
        """Count a refusal, and tell of it. Gives whether it is enforced."""
        enforced = not self._law.shadow
        self._law.refused[f"{'' if enforced else 'would_be_'}refused_{api.name}"] += 1
        self.recorded += 1
        self._untold -= 1
        if self._untold < 0:
            return enforced
        why = decision.why.value if self._client is not None else "only the broker knows who the client is"
        at = decision.place
        place = "" if at is None else f"{self._law.rules.file}:{at.line}:{at.column}"
        told = Denied(api, operation.word, kind.word, name, why, place, enforced)
        self._connection.gate.tell(told)
        return enforced

    @property
    def now(self) -> float:
        """Seconds since 1970 UTC."""
        return self._law.now()

    @property
    def is_shadow(self) -> bool:
        """Is nothing enforced?"""
        return self._law.shadow

    def hides(self, api: Api, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Whether a list leaves this out. Kafka records nothing of it; in shadow it is the only trace there is."""
        decision = self.decide(operation, kind, name)
        if decision.allowed:
            return False
        return not self._law.shadow or self.record(api, operation, kind, name, decision)


def rights(law: Law, ctx: Context) -> Rights:
    """The rights of the client of this request, as they are now."""
    found: Rights | None = ctx.connection.notes.get(law)
    if found is None:
        found = ctx.connection.notes[law] = Rights(law, ctx.connection)
    return found.of_request()


def client(connection: Connection) -> Client | None:
    """Who asks, in the words of the rules; None where only the broker knows."""
    if connection.principal is None and connection.mechanism is not None:
        return None
    return described(connection, connection.principal or ANONYMOUS)


def described(connection: Connection, principal: str) -> Client:
    """A client that comes as this principal, with all else that is known of it."""
    return Client(
        principal,
        host=java_text(connection.client[0]),
        client_id=connection.client_id or "",
        listener=connection.listener,
        mechanism=connection.mechanism or "",
        tls=connection.tls is not None,
    )
