"""Checks across options: what each option of a rule alone cannot know.

A rule must say whether it allows or denies, and what it is about.
"""

from collections.abc import Iterator
from typing import Any

from proxy.text.problems import Finding
from proxy.text.words import nearest_word
from rules.model import RESOURCES, AclFile, AclRule

OPTIONS = tuple(option.alias or name for name, option in AclRule.model_fields.items())


def unsaid(value: Any) -> Iterator[Finding]:
    """What the rules of a file leave out or say twice; also where something else is wrong with them."""
    acls = value.get("acls") if isinstance(value, dict) else None
    for index, acl in enumerate(acls if isinstance(acls, tuple) else ()):
        if isinstance(acl, dict):
            yield from _unsaid(("acls", index), acl)


def _unsaid(path: tuple[str | int, ...], acl: dict[str, Any]) -> Iterator[Finding]:
    # A misspelt option is told as that, not as a missing one too.
    said = acl.keys() | {nearest_word(str(name), OPTIONS) for name in acl.keys() - set(OPTIONS)}
    if {"allow", "deny"} <= acl.keys():
        yield Finding((*path, "deny"), '"allow" and "deny" stand in one rule; make two of it')
    elif not {"allow", "deny"} & said:
        yield Finding(path, 'the rule neither allows nor denies; write e.g. "allow: User:alice"')
    if not RESOURCES.keys() & said:
        yield Finding(path, 'the rule is about nothing; write e.g. "topics: orders"')


def findings(file: AclFile) -> Iterator[Finding]:
    """Everything wrong with rules whose options are each right."""
    for index, acl in enumerate(file.acls):
        if acl.during is not None and acl.during.is_empty:
            yield Finding(("acls", index, "during", "before"), 'no moment is left after "since"; write a later one')
