"""Client rights: what one client may do by one snapshot of the rules, at one moment.

Rules:
* They never change. Whatever they decided once, they decide again, so a request can name them as long as it is told of.
* Decisions are cached while the rights are in force. Rights that were replaced cache nothing: samples and requests in
  flight keep them for long.
* A client of which the proxy does not know who it is may do nothing.
"""

from __future__ import annotations

from sys import getsizeof

from plugins.acl.authorizer import Authorizer
from proxy.plugin import turn
from proxy.plugin.schema import LONGEST_TOPIC
from rules import Client, Operation, ResourceType, RuleDecision, Snapshot, Why
from rules.vocabulary import CLUSTER_NAME

UNKNOWN = RuleDecision(False, Why.NOT_ALLOWED)
MOST_DECISIONS = 10_000  # cached for one connection
ENTRY = 64  # bytes of a cache entry, beside its name; the decision itself belongs to the rules


class ClientRights:
    """What `client` may do by these rules; None: the proxy does not know who it is.

    `cached`: bytes of the cache. It is not called `held`: the connection's `ClientAuthorizer` counts it, once for all
    requests that note these rights.
    """

    __slots__ = ("_at", "_by_type", "_client", "_is_replaced", "_known", "_of", "_rules", "cached")

    def __init__(self, of: Authorizer, rules: Snapshot, client: Client | None) -> None:
        self._of = of
        self._rules = rules
        self._client = client
        self._at = of.now()
        self._known: dict[tuple[int, int], dict[str, RuleDecision]] = {}
        self._by_type: dict[tuple[int, int], RuleDecision] = {}  # a few: operations and types of resources
        self._is_replaced = False
        self.cached = 0

    @property
    def id(self) -> str:
        """The id of the rules."""
        return self._rules.id

    @property
    def is_known(self) -> bool:
        """Does the proxy know who the client is?"""
        return self._client is not None

    def decide(self, operation: Operation, kind: ResourceType, name: str) -> RuleDecision:
        """The decision of the rules, from the cache if it is there."""
        turn()
        known = self._known.get((operation, kind))
        if known is None:
            known = self._known[operation, kind] = {}
        decision = known.get(name)
        if decision is None:
            if self._client is None:
                return UNKNOWN
            decision = self._rules.decide(self._client, operation, kind, name, self._at)
            if len(known) >= MOST_DECISIONS:
                self.cached -= sum(map(size, known))
                known.clear()
            if len(name) <= LONGEST_TOPIC and not self._is_replaced:  # longer names are not cached
                known[name] = decision
                self.cached += size(name)
        return decision

    def may(self, operation: Operation, kind: ResourceType, name: str = CLUSTER_NAME) -> bool:
        """Whether the rules allow it, in shadow too; nothing is recorded."""
        return self.decide(operation, kind, name).allowed

    def decide_by_type(self, operation: Operation, kind: ResourceType) -> RuleDecision:
        """Whether there is any resource of this type on which the rules allow it (KIP-679)."""
        decision = self._by_type.get((operation, kind))
        if decision is None:
            if self._client is None:
                return UNKNOWN
            # Every rule of the client may be looked at: 60,000 take 0.1 s, and a request is 40 bytes.
            decision = self._rules.decide_by_type(self._client, operation, kind, self._at)
            if not self._is_replaced:
                self._by_type[operation, kind] = decision
        return decision

    def place(self, operation: Operation, kind: ResourceType, name: str) -> str | None:
        """The place of the rule that decides on this; None: no rule does.

        From any thread: it looks into the cache, and changes nothing there.
        """
        if self._client is None:
            return None
        decision = self._known.get((operation, kind), {}).get(name)
        return self._of.place(decision or self._rules.decide(self._client, operation, kind, name, self._at))

    def let_go(self) -> None:
        """Empty the cache; the rules can decide again."""
        self._known, self._by_type, self.cached = {}, {}, 0

    def retire(self) -> None:
        """Others are in force: empty the cache for good."""
        self._is_replaced = True
        self.let_go()


def size(name: str) -> int:
    """Bytes that a name takes in the cache."""
    return getsizeof(name) + ENTRY
