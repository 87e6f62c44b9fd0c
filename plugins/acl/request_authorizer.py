"""Request authorizer: what the client may do, for one request or its answer, and what of it was refused.

Rules:
* The rules in force when it is made, or takes up the present ones, decide on all of the request: requests and answers
  of one connection may be judged in slices, in turns, while the rules change. They are noted on the request
  (`rules/noted.py`).
* Refusals are recorded with the correlation id of their own request.
* In shadow everything is allowed, and every refusal is recorded.
"""

from __future__ import annotations

from plugins.acl.authorizer import Authorizer
from plugins.acl.client_authorizer import ClientAuthorizer
from proxy.plugin import Api, Context, Denied
from rules import Operation, ResourceType, RuleDecision
from rules.noted import note_in_force, note_rules
from rules.vocabulary import CLUSTER_NAME

CHANGED = "the rules changed while a request was checked"
MOST_EVENTS = 100  # refusals of one request that give an event each; all of them are counted


class RequestAuthorizer:
    """What the client of one request may do. `recorded`: its refusals so far.

    `edition` stands for the rights that decide (`client_authorizer.py`).
    """

    __slots__ = ("_correlation_id", "_of", "_rights", "client", "decide", "edition", "may", "recorded")

    def __init__(self, client: ClientAuthorizer, ctx: Context) -> None:
        self.client = client
        self.recorded = 0
        self._of = client.of
        self._correlation_id = ctx.correlation_id
        self.take_up(ctx)

    def take_up(self, ctx: Context) -> None:
        """Have the rules decide that are in force now: the request waited. `ctx` is not kept: its notes keep this."""
        self.edition = self.client.current()
        self._rights = rights = self.client.rights
        self.decide, self.may = rights.decide, rights.may
        note_rules(ctx, rights)

    @property
    def is_current(self) -> bool:
        """Would the rules that are in force now decide the same? In shadow nothing hangs on it."""
        return self._of.shadow or self.client.still_has(self._rights)

    @property
    def now(self) -> float:
        """Seconds since 1970 UTC."""
        return self._of.now()

    @property
    def is_shadow(self) -> bool:
        """Whether nothing is enforced."""
        return self._of.shadow

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
        decision = self._rights.decide_by_type(operation, kind)
        return not decision.allowed and self.record(api, operation, kind, "any", decision)

    def record(self, api: Api, operation: Operation, kind: ResourceType, name: str, decision: RuleDecision) -> bool:
        """Count a refusal, and emit its event. Returns whether it is enforced."""
        enforced = not self._of.shadow or api in self._of.always
        self._of.count_refusal(api, enforced)
        self.recorded += 1
        if self.recorded > MOST_EVENTS:
            return enforced
        why = decision.why.value if self._rights.is_known else "only the broker knows who the client is"
        place = self._of.place(decision) or ""
        self.client.tell(Denied(api, operation.word, kind.word, name, why, place, enforced, self._correlation_id))
        return enforced

    def hides(self, api: Api, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Whether a list leaves this out. Recorded only in shadow, where nothing else shows it; Kafka logs none."""
        decision = self.decide(operation, kind, name)
        if decision.allowed:
            return False
        return not self._of.shadow or self.record(api, operation, kind, name, decision)


def authorizer_of(authorizer: Authorizer, ctx: Context) -> RequestAuthorizer:
    """The authorizer of this request, by the rules in force now."""
    notes = ctx.connection.notes
    found: ClientAuthorizer | None = notes.get(authorizer.name)
    if found is None or found.of is not authorizer:
        found = notes[authorizer.name] = ClientAuthorizer(authorizer, ctx.connection)
        note_in_force(ctx.connection, found.in_force)
    return RequestAuthorizer(found, ctx)
