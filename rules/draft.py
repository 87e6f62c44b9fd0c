"""A draft: the rules of a snapshot with a change, to see what they would then decide.

Rules:
* A rule that is not changed keeps its position and its place in the file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from proxy.text.places import Place
from rules.model import AclFile, AclRule
from rules.snapshot import Rule, Snapshot


@dataclass(frozen=True)
class Draft:
    """A set of rules with changes that are not in force."""

    file: AclFile
    rules: tuple[Rule, ...]

    @classmethod
    def of(cls, snapshot: Snapshot, needed: Callable[[Rule], bool] = lambda rule: True) -> Draft:
        """The rules of a snapshot, or only those of them that `needed` selects."""
        return cls(snapshot.file, tuple(filter(needed, snapshot.rules)))

    def snapshot(self) -> Snapshot:
        """The draft as a snapshot, which can decide."""
        acls = tuple(rule.acl for rule in self.rules)
        file = self.file.model_copy(update={"acls": acls})
        return Snapshot(file, self.rules, dict.fromkeys(file.super_users, Place(1, 1)), None)

    def instead(self, rule: Rule, acl: AclRule) -> Draft:
        """The draft with this rule replaced."""
        changed = Rule(rule.index, acl, rule.place)
        return replace(self, rules=tuple(changed if one is rule else one for one in self.rules))

    def without(self, rule: Rule) -> Draft:
        return replace(self, rules=tuple(one for one in self.rules if one is not rule))

    def also(self, acl: AclRule) -> Draft:
        """The draft with one more rule."""
        return replace(self, rules=(*self.rules, Rule(len(self.rules), acl, Place(1, 1))))

    def without_super_user(self, principal: str) -> Draft:
        left = tuple(one for one in self.file.super_users if one != principal)
        return replace(self, file=self.file.model_copy(update={"super_users": left}))
