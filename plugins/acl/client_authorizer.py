"""Client authorizer: what the client of one connection may do.

Rules:
* Every request is decided by the rules in force now: a snapshot that was replaced decides nothing any more.
* Decisions are cached per connection while they cannot change: as long as the snapshot, the client and, where a rule
  has hours, the second are the same. `edition` stands for all three: another edition empties the cache.
* A client that authenticated as a principal that only its broker knows may do nothing. A client that did not
  authenticate is ANONYMOUS.
* `request_authorizer.py` records refusals.
"""

from __future__ import annotations

from sys import getsizeof

from plugins.acl.authorizer import Authorizer
from proxy.plugin import Connection, Denied, turn
from proxy.plugin.schema import LONGEST_TOPIC
from rules import Client, Operation, ResourceType, RuleDecision, Snapshot, Why
from rules.clients import client_of
from rules.vocabulary import CLUSTER_NAME

UNKNOWN = RuleDecision(False, Why.NOT_ALLOWED)
MOST_DECISIONS = 10_000  # cached for one connection
ENTRY = 64  # bytes of a cache entry, beside its name; the decision itself belongs to the rules


class ClientAuthorizer:
    """What one connection's client may do, by the rules of the authorizer `of`.

    `edition` changes whenever a decision may change.
    """

    __slots__ = (
        "_at",
        "_client",
        "_client_id",
        "_connection",
        "_known",
        "_mechanism",
        "_principal",
        "_rules",
        "_size",
        "edition",
        "of",
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

    def decide_by_type(self, operation: Operation, kind: ResourceType) -> RuleDecision:
        """Whether there is any resource of this type on which the rules allow it (KIP-679)."""
        if self._client is None or self._rules is None:
            return UNKNOWN
        return self._rules.decide_by_type(self._client, operation, kind, self.of.now())

    @property
    def is_known(self) -> bool:
        """Does the proxy know who the client is?"""
        return self._client is not None

    def tell(self, event: Denied) -> None:
        """Report a refusal."""
        self._connection.gate.tell(event)


def size(name: str) -> int:
    """Bytes that a name takes in the cache."""
    return getsizeof(name) + ENTRY
