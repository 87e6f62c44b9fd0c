"""Checks across the options of a rule, which the validation of a single option cannot make.

A rule must say whether it allows or denies, and name at least one resource.
"""

from collections.abc import Iterator
from typing import Any

from proxy.text.problems import Finding
from proxy.text.words import nearest_word
from rules.model import RESOURCES, AclFile, AclRule

OPTIONS = tuple(option.alias or name for name, option in AclRule.model_fields.items())


def unsaid(value: Any) -> Iterator[Finding]:
    """What the rules of a file leave out, or say twice. It is found also in rules that have other mistakes."""
    acls = value.get("acls") if isinstance(value, dict) else None
    for index, acl in enumerate(acls if isinstance(acls, tuple) else ()):
        if isinstance(acl, dict):
            yield from _unsaid(("acls", index), acl)


def _unsaid(path: tuple[str | int, ...], acl: dict[str, Any]) -> Iterator[Finding]:
    # A misspelt option is reported as misspelt, and not also as missing.
    said = acl.keys() | {nearest_word(str(name), OPTIONS) for name in acl.keys() - set(OPTIONS)}
    if {"allow", "deny"} <= acl.keys():
        yield Finding((*path, "deny"), '"allow" and "deny" stand in one rule; make two of it')
    elif not {"allow", "deny"} & said:
        yield Finding(path, 'the rule neither allows nor denies; write e.g. "allow: User:alice"')
    if not RESOURCES.keys() & said:
        yield Finding(path, 'the rule is about nothing; write e.g. "topics: orders"')


def findings(file: AclFile) -> Iterator[Finding]:
    """Everything that is wrong with rules whose single options are all valid."""
    for index, acl in enumerate(file.acls):
        if acl.during is not None and acl.during.is_empty:
            yield Finding(("acls", index, "during", "before"), 'no moment is left after "since"; write a later one')
