"""Client authorizer: what the client of one connection may do.

Rules:
* Every request is decided by the rules in force now: a snapshot that was replaced decides nothing any more.
* Decisions are cached per connection while they cannot change: as long as the snapshot, the client and, where a rule
  has hours, the second are the same. `edition` stands for all three: another edition empties the cache.
* A client that authenticated as a principal that only its broker knows may do nothing. A client that did not
  authenticate is ANONYMOUS.
* In shadow everything is allowed, and every refusal is recorded.
"""

from __future__ import annotations

from sys import getsizeof

from plugins.acl.authorizer import Authorizer
from proxy.plugin import Api, Connection, Context, Denied, turn
from proxy.plugin.schema import LONGEST_TOPIC
from rules import Client, Operation, ResourceType, RuleDecision, Snapshot, Why
from rules.clients import client_of
from rules.noted import NotedRules, note_rules
from rules.vocabulary import CLUSTER_NAME

UNKNOWN = RuleDecision(False, Why.NOT_ALLOWED)
MOST_DECISIONS = 10_000  # cached for one connection
ENTRY = 64  # bytes of a cache entry, beside its name; the decision itself belongs to the rules
MOST_EVENTS = 100  # refusals of one request that give an event each; all of them are counted


class ClientAuthorizer:
    """What one connection's client may do, by the rules of the authorizer `of`.

    `edition` changes whenever a decision may change.
    """

    __slots__ = (
        "_at",
        "_client",
        "_client_id",
        "_connection",
        "_correlation_id",
        "_known",
        "_mechanism",
        "_principal",
        "_rules",
        "_size",
        "_untold",
        "edition",
        "of",
        "recorded",
    )

    def __init__(self, authorizer: Authorizer, connection: Connection) -> None:
        self.of = authorizer
        self._connection = connection
        self._rules: Snapshot | None = None  # the rules that decided last; below: when, and for whom
        self._at = 0
        self._principal: str | None = None
        self._mechanism: str | None = None
        self._client_id: str | None = None
        self._client: Client | None = None
        self._known: dict[tuple[int, int], dict[str, RuleDecision]] = {}
        self._size = 0  # bytes of the cache
        self.edition: object = None
        self.recorded = 0  # refusals so far
        self._correlation_id: int | None = None  # of the request that is being decided
        self._untold = MOST_EVENTS

    def of_request(self, ctx: Context) -> ClientAuthorizer:
        """Begin with a request, or go on with one that waited: by the rules in force now."""
        self._untold, self._correlation_id = MOST_EVENTS, ctx.correlation_id
        self.current()
        return self

    def answers(self, ctx: Context) -> None:
        """From now on refusals belong to the answer to this request."""
        self._correlation_id = ctx.correlation_id

    def rules_id(self) -> str | None:
        """The id of the rules that decided on the last request; None: they are not in force any more."""
        return None if self._rules is None or self.of.is_over else self._rules.id

    def place(self, operation: Operation, kind: ResourceType, name: str) -> str | None:
        """The place of the rule that decides on this; None: no rule does.

        From any thread: it looks into the cache, and changes nothing there.
        """
        client, rules = self._client, self._rules
        if client is None or rules is None or self.of.is_over:
            return None
        decision = self._known.get((operation, kind), {}).get(name)
        return self.of.place(decision or rules.decide(client, operation, kind, name, self.of.now()))

    def current(self) -> object:
        """Take up the present rules and properties of the client. Returns the edition."""
        authorizer, connection = self.of, self._connection
        if (
            authorizer.rules.value is not self._rules
            or authorizer.is_timed
            or connection.principal is not self._principal
            or connection.mechanism is not self._mechanism
            or connection.client_id is not self._client_id
        ):
            self._renew(connection.principal, connection.mechanism, connection.client_id)
        return self.edition

    def _renew(self, principal: str | None, mechanism: str | None, client_id: str | None) -> None:
        """Compare with the state before, and begin a new edition only if something differs."""
        rules, at = self.of.edition()
        before = self._rules, self._at, self._principal, self._mechanism, self._client_id
        self._rules, self._at = rules, at
        self._principal, self._mechanism, self._client_id = principal, mechanism, client_id
        if before != (rules, at, principal, mechanism, client_id):
            self._client = client_of(self._connection)
            self.let_go()
            self.edition = object()

    def decide(self, operation: Operation, kind: ResourceType, name: str) -> RuleDecision:
        """The decision of the rules, from the cache if it is there. `current` must have been called before."""
        turn()
        known = self._known.get((operation, kind))
        if known is None:
            known = self._known[operation, kind] = {}
        decision = known.get(name)
        if decision is None:
            if self._client is None or self._rules is None:
                return UNKNOWN
            decision = self._rules.decide(self._client, operation, kind, name, self.of.now())
            if len(known) >= MOST_DECISIONS:
                self._size -= sum(map(size, known))
                known.clear()
            if len(name) <= LONGEST_TOPIC:  # no longer one is cached
                known[name] = decision
                self._size += size(name)
        return decision

    @property
    def held(self) -> int:
        """Bytes of the cache: decisions with their names."""
        return self._size

    def let_go(self) -> None:
        """Empty the cache; the rules can decide again."""
        self._known, self._size = {}, 0

    def may(self, operation: Operation, kind: ResourceType, name: str = CLUSTER_NAME) -> bool:
        """Whether the rules allow it, in shadow too; nothing is recorded."""
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
        """Whether to refuse this; a refusal is recorded. `or_cluster`: that right on the cluster is enough, too."""
        decision = self.decide(operation, kind, name)
        if decision.allowed or (or_cluster is not None and self.may(or_cluster, ResourceType.CLUSTER)):
            return False
        return self.record(api, operation, kind, name, decision)

    def refuses_any(self, api: Api, operation: Operation, kind: ResourceType) -> bool:
        """Whether to refuse this for every resource of this type (KIP-679)."""
        if self._client is None or self._rules is None:
            return self.record(api, operation, kind, "any", UNKNOWN)
        decision = self._rules.decide_by_type(self._client, operation, kind, self.of.now())
        return not decision.allowed and self.record(api, operation, kind, "any", decision)

    def record(self, api: Api, operation: Operation, kind: ResourceType, name: str, decision: RuleDecision) -> bool:
        """Count a refusal, and emit its event. Returns whether it is enforced."""
        enforced = not self.of.shadow
        self.of.count_refusal(api)
        self.recorded += 1
        self._untold -= 1
        if self._untold < 0:
            return enforced
        why = decision.why.value if self._client is not None else "only the broker knows who the client is"
        place = self.of.place(decision) or ""
        told = Denied(api, operation.word, kind.word, name, why, place, enforced, self._correlation_id)
        self._connection.gate.tell(told)
        return enforced

    @property
    def now(self) -> float:
        """Seconds since 1970 UTC."""
        return self.of.now()

    @property
    def is_shadow(self) -> bool:
        """Whether nothing is enforced."""
        return self.of.shadow

    def hides(self, api: Api, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Whether a list leaves this out. Recorded only in shadow, where nothing else shows it; Kafka logs none."""
        decision = self.decide(operation, kind, name)
        if decision.allowed:
            return False
        return not self.of.shadow or self.record(api, operation, kind, name, decision)


def authorizer_of(authorizer: Authorizer, ctx: Context) -> ClientAuthorizer:
    """The authorizer of the client of this request, by the rules in force now."""
    notes = ctx.connection.notes
    found: ClientAuthorizer | None = notes.get(authorizer.name)
    if found is None or found.of is not authorizer:
        found = notes[authorizer.name] = ClientAuthorizer(authorizer, ctx.connection)
        note_rules(ctx.connection, NotedRules(found.rules_id, found.place))
    return found.of_request(ctx)


def size(name: str) -> int:
    """Bytes that a name takes in the cache."""
    return getsizeof(name) + ENTRY
