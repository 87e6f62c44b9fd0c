"""Client authorizer: what the client of one connection may do.

# The rules are asked anew for every request: a snapshot that was replaced a moment ago decides nothing any more.
# Decisions are remembered per connection for as long as they cannot change: while the snapshot, the client and, where a
# rule says when it holds, the second are the same. `edition` stands for all three: with another one all is asked again.
# A client that authenticated as a principal that only its broker knows may do nothing. One that did not authenticate is
# ANONYMOUS.
# In shadow everything is allowed and every refusal recorded.
"""

from __future__ import annotations

from sys import getsizeof

from plugins.acl.authorizer import Authorizer
from proxy.plugin import Api, Connection, Context, Denied, turn
from rules import Client, Decision, Operation, ResourceType, Snapshot, Why
from rules.clients import client_of
from rules.noted import NotedRules, note_rules
from rules.vocabulary import CLUSTER_NAME

UNKNOWN = Decision(False, Why.NOT_ALLOWED)
MOST_DECISIONS = 10_000  # remembered for one connection
ENTRY = 64  # bytes that one takes in a table, beside its name; decisions themselves are the rules' own
LONGEST_NAME = 249  # characters of a name whose decision is remembered: Kafka's longest name of a topic
MOST_EVENTS = 100  # refusals of one request of which events tell; all are counted


class ClientAuthorizer:
    """What one connection's client may do, by the authorizer `of` its cluster.

    `edition` changes with every change that may change a decision.
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
        self._rules: Snapshot | None = None  # those that were asked last, when, and for whom
        self._at = 0
        self._principal: str | None = None
        self._mechanism: str | None = None
        self._client_id: str | None = None
        self._client: Client | None = None
        self._known: dict[tuple[int, int], dict[str, Decision]] = {}
        self._size = 0  # bytes that they take
        self.edition: object = None
        self.recorded = 0  # refusals so far
        self._correlation_id: int | None = None  # of the request that is decided on
        self._untold = MOST_EVENTS

    def of_request(self, ctx: Context) -> ClientAuthorizer:
        """For another request, or one that waited: by the rules as they are now, and its refusals are told."""
        self._untold, self._correlation_id = MOST_EVENTS, ctx.correlation_id
        self.current()
        return self

    def answers(self, ctx: Context) -> None:
        """What is refused now is refused in the answer to this request."""
        self._correlation_id = ctx.correlation_id

    def rules_id(self) -> str | None:
        """Which rules the last request was decided by; None: they are not in force any more."""
        return None if self._rules is None or self.of.is_over else self._rules.id

    def place(self, operation: Operation, kind: ResourceType, name: str) -> str | None:
        """Where the rule stands that decides on this; None: there is none."""
        return None if self.of.is_over else self.of.place(self.decide(operation, kind, name))

    def current(self) -> object:
        """Go by the rules and the client as they are now. Gives the edition."""
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
        """Something may be another: what is equal is the same."""
        rules, at = self.of.edition()
        before = self._rules, self._at, self._principal, self._mechanism, self._client_id
        self._rules, self._at = rules, at
        self._principal, self._mechanism, self._client_id = principal, mechanism, client_id
        if before != (rules, at, principal, mechanism, client_id):
            self._client = client_of(self._connection)
            self.let_go()
            self.edition = object()

    def decide(self, operation: Operation, kind: ResourceType, name: str) -> Decision:
        """The rules' answer. `current` was called for this request before."""
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
            if len(name) <= LONGEST_NAME:
                known[name] = decision
                self._size += size(name)
        return decision

    @property
    def held(self) -> int:
        """Bytes that the decisions take with their names."""
        return self._size

    def let_go(self) -> None:
        """Forget the decisions: they can be had again."""
        self._known, self._size = {}, 0

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
        decision = self._rules.decide_by_type(self._client, operation, kind, self.of.now())
        return not decision.allowed and self.record(api, operation, kind, "any", decision)

    def record(self, api: Api, operation: Operation, kind: ResourceType, name: str, decision: Decision) -> bool:
        """Count a refusal, and tell of it. Gives whether it is enforced."""
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
        """Is nothing enforced?"""
        return self.of.shadow

    def hides(self, api: Api, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Whether a list leaves this out. Kafka records nothing of it; in shadow it is the only trace there is."""
        decision = self.decide(operation, kind, name)
        if decision.allowed:
            return False
        return not self.of.shadow or self.record(api, operation, kind, name, decision)


def authorizer_of(authorizer: Authorizer, ctx: Context) -> ClientAuthorizer:
    """What the client of this request may do, as it is now."""
    notes = ctx.connection.notes
    found: ClientAuthorizer | None = notes.get(authorizer.name)
    if found is None or found.of is not authorizer:
        for key in found.of.caches if found is not None else ():
            notes.pop(key, None)
        found = notes[authorizer.name] = ClientAuthorizer(authorizer, ctx.connection)
        note_rules(ctx.connection, NotedRules(found.rules_id, found.place))
    return found.of_request(ctx)


def size(name: str | bytes) -> int:
    """Bytes that a name takes in a table."""
    return getsizeof(name) + ENTRY
