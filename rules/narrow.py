"""Narrowing: the smallest change to a rule after which it does not match a question any more.

Rules:
* A rule stands for every combination of the values that it lists. The values that match are taken out of one of its
  lists. Only a list with other values qualifies. Of these lists, it is the one that loses the fewest combinations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rules import write
from rules.model import OPTION, AclRule
from rules.question import AccessQuestion
from rules.vocabulary import EVERYBODY, answers


class Narrowed(NamedTuple):
    """A narrowed rule: what was taken out of which option. `share`: the part of its combinations that is gone."""

    share: float
    option: str
    taken: str
    acl: AclRule


def narrowed(acl: AclRule, question: AccessQuestion) -> Narrowed | None:
    """The rule without the values that match the question; None where no rule would be left."""
    ways = list(_ways(acl, question))
    return min(ways, key=lambda less: less.share) if ways else None


def _ways(acl: AclRule, question: AccessQuestion) -> Iterator[Narrowed]:
    option = acl.permission.word.lower()
    who = [principal for principal in acl.principals if principal in (question.client.principal, EVERYBODY)]
    yield from _without(acl, option, who, len(acl.principals))

    resources = list(acl.resources())
    name = question.name or ""
    about = [pattern for kind, pattern in resources if kind is question.kind and pattern.holds(name)]
    yield from _without(acl, OPTION[question.kind], about, len(resources))

    bit = 1 << question.operation
    yield from _without(acl, "to", [it for it in acl.to if answers(acl.permission, it) & bit], len(acl.to))

    host = question.client.host
    if acl.from_ is not None and host is not None:
        yield from _without(acl, "from_", [one for one in acl.from_ if one.holds(host)], len(acl.from_))


def _without(acl: AclRule, option: str, taken: list[Any], of: int) -> Iterator[Narrowed]:
    if len(taken) < of:
        left = tuple(one for one in getattr(acl, option) if one not in taken) or None
        changed = acl.model_copy(update={option: left})
        yield Narrowed(len(taken) / of, option.strip("_"), " and ".join(map(write.inline, taken)), changed)
