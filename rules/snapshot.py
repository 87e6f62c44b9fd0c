"""A snapshot: immutable rules that decide who may do what, as Kafka's StandardAuthorizer decides.

Rules:
* A super user may do everything. Else a deny that matches wins, else an allow that matches holds.
* Where neither matches: `unmatched` decides, but only for a resource that no rule names, for any principal and any
  operation.
* A rule matches by principal (its own or User:*), operation (`vocabulary.answers`), name and conditions. A condition
  on a property of the client that is not known holds in a deny and does not in an allow.
* A client that is called `User:*` itself is refused, unless it is a super user: Kafka's authorizer throws.
* A snapshot never changes; a changed file gives another snapshot.

For speed (the benchmark holds it): rules are found by type, principal and name, a prefix by one lookup for each length.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from proxy.text.places import Place
from proxy.text.problems import Problem
from rules.conditions import Client, conditions
from rules.model import AclFile, AclRule
from rules.pattern_index import PatternIndex
from rules.values import EVERY, Pattern
from rules.vocabulary import EVERYBODY, Operation, PatternType, Permission, ResourceType, answers

# Kafka asks for a topic of this name before it looks at the rules one by one (Authorizer.authorizeByResourceType).
HARDCODE = "hardcode"


class Why(Enum):
    """What decided."""

    SUPER_USER = "a super user"
    DENIED = "a rule that denies"
    ALLOWED = "a rule that allows"
    NOT_ALLOWED = "no rule allows it"
    UNMATCHED = "no rule names it"
    NOBODY = "nobody can be everybody"


class RuleDecision(NamedTuple):
    """The answer to one question, and what decided it: a rule, or another part of the file, by its place."""

    allowed: bool
    why: Why
    rule: Rule | None = None
    place: Place | None = None


class Rule:
    """One entry under `acls`, ready to be asked."""

    __slots__ = ("acl", "conditions", "decision", "deny", "index", "mask", "named", "place")

    def __init__(self, index: int, acl: AclRule, place: Place) -> None:
        self.index = index
        self.acl = acl
        self.place = place
        self.deny = acl.permission is Permission.DENY
        self.mask = 0  # the operations that it answers for
        self.named = 0  # the operations that it names; decisions by resource type have no implied ones, as in Kafka
        for operation in acl.to:
            self.mask |= answers(acl.permission, operation)
            self.named |= answers(Permission.DENY, operation)
        self.conditions = conditions(acl)
        self.decision = RuleDecision(not self.deny, Why.DENIED if self.deny else Why.ALLOWED, self, place)

    def admits(self, client: Client, at: float | None) -> bool:
        """Whether the conditions hold for this client at this moment."""
        for condition in self.conditions:
            holds = condition(client, at)
            if not (self.deny if holds is None else holds):
                return False
        return True


class Snapshot:
    """A set of rules that decides. `id` names it in records: files that say the same have the same id."""

    def __init__(
        self,
        file: AclFile,
        rules: Iterable[Rule],
        super_users: Mapping[str, Place],
        unmatched: Place | None,
        warnings: Iterable[Problem] = (),
    ) -> None:
        self.file = file
        self.warnings = tuple(warnings)
        self.rules = tuple(rules)
        # Principals whose answer does not depend on the question.
        self._fixed = {EVERYBODY: RuleDecision(False, Why.NOBODY)} | {
            principal: RuleDecision(True, Why.SUPER_USER, place=place) for principal, place in super_users.items()
        }
        self._unmatched = RuleDecision(file.unmatched == "allow", Why.UNMATCHED, place=unmatched)
        self._not_allowed = RuleDecision(False, Why.NOT_ALLOWED)
        self._by_principal: dict[int, dict[str, PatternIndex[Rule]]] = {kind: {} for kind in ResourceType}
        self._by_anybody: dict[int, PatternIndex[Rule]] = {kind: PatternIndex() for kind in ResourceType}
        for rule in self.rules:
            for kind, pattern in rule.acl.resources():
                self._by_anybody[kind].put(pattern, rule)
                for principal in rule.acl.principals:
                    self._by_principal[kind].setdefault(principal, PatternIndex()).put(pattern, rule)
        for kind in ResourceType:
            for index in (self._by_anybody[kind], *self._by_principal[kind].values()):
                index.close()

    @cached_property
    def id(self) -> str:
        return hashlib.sha256(repr(self.file).encode()).hexdigest()[:12]

    def decide(
        self, client: Client, operation: Operation, kind: ResourceType, name: str, at: float | None = None
    ) -> RuleDecision:
        """Whether a client may do this with the resource of this name. `at`: seconds since 1970 UTC, if known."""
        principal = client.principal
        if principal in self._fixed:
            return self._fixed[principal]
        bit = 1 << operation
        indexes = self._by_principal[kind]
        allowed: RuleDecision | None = None
        for who in (principal, EVERYBODY):
            if (index := indexes.get(who)) is None:
                continue
            for rule in index.about(name):
                if rule.mask & bit and (not rule.conditions or rule.admits(client, at)):
                    if rule.deny:
                        return rule.decision
                    allowed = allowed or rule.decision
        return allowed or self._default(kind, name)

    def _default(self, kind: ResourceType, name: str) -> RuleDecision:
        return self._not_allowed if self._by_anybody[kind].about(name) else self._unmatched

    def decide_by_type(
        self, client: Client, operation: Operation, kind: ResourceType, at: float | None = None
    ) -> RuleDecision:
        """Whether a client may do this with any resource of a type at all (KIP-679).

        It decides as Kafka does, with the same limits: operations imply nothing here, and a deny of every name by an
        empty prefix is not seen.
        """
        first = self.decide(client, operation, kind, HARDCODE, at)
        if first.allowed or first.why is Why.NOBODY:
            return first
        matching = [
            (pattern, rule)
            for who in (client.principal, EVERYBODY)
            if (index := self._by_principal[kind].get(who)) is not None
            for pattern, rule in index.all()
            if rule.named & 1 << operation and rule.admits(client, at)
        ]
        denied = {pattern: rule for pattern, rule in matching if rule.deny}
        if EVERY in denied:
            return denied[EVERY].decision
        allowed = [(pattern, rule) for pattern, rule in matching if not rule.deny]
        for pattern, rule in allowed:
            if pattern == EVERY or not _dominated(pattern, denied):
                return rule.decision
        for pattern, _ in allowed:
            return _dominating(pattern, denied).decision
        return self._not_allowed


def _dominated(pattern: Pattern, denied: Container[Pattern]) -> bool:
    return any(other in denied for other in _dominators(pattern))


def _dominating(pattern: Pattern, denied: Mapping[Pattern, Rule]) -> Rule:
    return next(denied[other] for other in _dominators(pattern) if other in denied)


def _dominators(pattern: Pattern) -> Iterator[Pattern]:
    """The patterns that cover this one, so that their deny takes all of it away: itself, and each of its prefixes."""
    if pattern.type is PatternType.LITERAL:
        yield pattern
    for length in range(1, len(pattern.name) + 1):
        yield Pattern(PatternType.PREFIXED, pattern.name[:length])
