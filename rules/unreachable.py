"""Unreachable rules: rules that can never match give warnings, since their author expects an effect.

Rules:
* A warning is given only where no client and no broker could make the rule match, or where a name looks like a pattern
  and is none. A rule that merely has not matched so far gives no warning.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import reduce
from ipaddress import IPv4Network, IPv6Network
from operator import or_

from proxy.protocol.wire import LONGEST_TOPIC
from proxy.text.places import KeyPath
from proxy.text.problems import Finding
from proxy.text.words import shown
from rules.hosts import HostPattern, address, java_text
from rules.model import RESOURCES, AclFile, AclRule
from rules.pattern_index import PatternIndex
from rules.values import Pattern
from rules.vocabulary import ASKED, CLUSTER_NAME, EVERYBODY, Operation, PatternType, Permission, ResourceType, answers

SOME = 5  # the number of rules that are named in one warning
ASKED_OF = {kind: sum(1 << operation for operation in some) for kind, some in ASKED.items()}
_MAPPED = IPv6Network("::ffff:0:0/96")
_SEVERAL = re.compile(r"[;,]\s*User:")  # as in Kafka's own `super.users`
_NOT_IN_TOPICS = re.compile(r"[^a-zA-Z0-9._-]")

_NOT_EVERYBODY = (
    f'"{EVERYBODY}" does not make everybody a super user, here it is somebody of the name "*"; '
    f'write "allow: {EVERYBODY}" under "acls"'
)


def findings(file: AclFile) -> Iterator[Finding]:
    """Every part of a rule that can never match."""
    denied = Denials(file)
    for index, principal in enumerate(file.super_users):
        if fact := _NOT_EVERYBODY if principal == EVERYBODY else _of_principal(principal):
            yield Finding(("super_users", index), fact, warning=True)
    for index, acl in enumerate(file.acls):
        path = ("acls", index)
        yield from _operations(path, acl)
        yield from _principals(path, acl, file.super_users)
        yield from _names(path, acl)
        for number, host in enumerate(acl.from_ or ()):
            if fact := _of_host(host):
                yield Finding((*path, "from", number), fact, warning=True)
        if acl.permission is Permission.ALLOW and (by := denied.whole(acl)) is not None:
            yield Finding(path, f"this never allows anything: {_denied_by(by)}", warning=True)


def _denied_by(rules: list[int]) -> str:
    if len(rules) == 1:
        return f'rule {rules[0] + 1} under "acls" denies it all; take one of the two out'
    some = ", ".join(str(index + 1) for index in rules[:SOME])
    more = " and more" if len(rules) > SOME else ""
    return f'rules {some}{more} under "acls" together deny it all; take this rule out, or one of those'


def _operations(path: KeyPath, acl: AclRule) -> Iterator[Finding]:
    kinds = {option: kind for option, kind in RESOURCES.items() if getattr(acl, option)}
    asked = reduce(or_, (ASKED_OF[kind] for kind in kinds.values()))
    said = [answers(acl.permission, operation) for operation in acl.to]
    for index, operation in enumerate(acl.to):
        if not said[index] & asked:
            fact = f"no broker asks for {operation.word} of {' or '.join(kinds)}"
            known = sorted({known.word for kind in kinds.values() for known in ASKED[kind]})
            yield Finding((*path, "to", index), f"{fact}; it asks for {', '.join(known)}", warning=True)
    every = reduce(or_, said)
    for option, kind in kinds.items():
        if every & asked and not every & ASKED_OF[kind]:
            known = sorted(known.word for known in ASKED[kind])
            fact = f"no broker asks for {', '.join(it.word for it in acl.to)} of {option}"
            yield Finding((*path, option), f"{fact}; it asks for {', '.join(known)}", warning=True)


def _principals(path: KeyPath, acl: AclRule, super_users: tuple[str, ...]) -> Iterator[Finding]:
    option = acl.permission.word.lower()
    for index, principal in enumerate(acl.principals):
        _, _, name = principal.partition(":")
        if principal != EVERYBODY and principal in super_users:
            message: str | None = f'"{principal}" is a super user, whom no rule concerns; leave it out here or there'
        elif principal != EVERYBODY and name == "*":
            message = f'"{principal}" is somebody of the name "*"; "{EVERYBODY}" is everybody, of every type'
        else:
            message = _of_principal(principal)
        if message is not None:
            yield Finding((*path, option, index), message, warning=True)


def _of_principal(principal: str) -> str | None:
    kind, _, name = principal.partition(":")
    if kind != "User" and kind.strip().lower() == "user":
        return f'no client has the type "{kind}"; did you mean "User:{name}"?'
    if _SEVERAL.search(name):
        return f"{shown(principal)} is one principal; write a list: [User:alice, User:bob]"
    if name.endswith("*") and name != "*":
        return f"{shown(principal)} is somebody whose name ends so; principals have no prefixes, write a list of them"
    if name != name.strip() or not name.isprintable():
        fact = f"no client has the name of {shown(principal)}"
        return f"{fact}; write it without white space at its ends, and without what cannot be seen"
    return None


def _of_host(host: HostPattern) -> str | None:
    if isinstance(host.network, IPv6Network) and host.network.subnet_of(_MAPPED):
        bits = int(host.network.network_address) & 0xFFFFFFFF
        inside = IPv4Network((bits, host.network.prefixlen - _MAPPED.prefixlen))
        return f'a client from "{host.text}" has an IPv4 address, which is never in an IPv6 network; write "{inside}"'
    if host.network is not None or host.is_anywhere:
        return None
    if address(host.text) is None:
        return f'no client comes from "{host.text}", hosts are addresses; write e.g. "127.0.0.1"'
    if java_text(host.text) != host.text:
        return f'hosts are compared as Java prints them, not as "{host.text}"; write "{java_text(host.text)}"'
    return None


def _names(path: KeyPath, acl: AclRule) -> Iterator[Finding]:
    for option, kind in RESOURCES.items():
        for index, pattern in enumerate(getattr(acl, option) or ()):
            if fact := _of_name(kind, pattern):
                yield Finding((*path, option, index), fact, warning=True)


def _of_name(kind: ResourceType, pattern: Pattern) -> str | None:
    if pattern.is_every:
        return None
    if kind is ResourceType.CLUSTER and not pattern.holds(CLUSTER_NAME):
        return f'the cluster has the name "{CLUSTER_NAME}" in every broker; write "cluster: true"'
    literal = pattern.type is PatternType.LITERAL
    if kind is ResourceType.USER and literal and ":" not in pattern.name:
        return f'"{pattern.name}" has no type; write "User:{pattern.name}"'
    if kind is not ResourceType.TOPIC:
        return None
    if wrong := _NOT_IN_TOPICS.search(pattern.name):
        return f"no topic has a \"{wrong[0]}\" in its name; names have letters, digits, '.', '_' and '-'"
    if len(pattern.name) > LONGEST_TOPIC or (literal and pattern.name in ("", ".", "..")):
        return f"no topic has this name; names have 1 to {LONGEST_TOPIC} characters, and are neither '.' nor '..'"
    return None


class Denials:
    """What is denied without any condition. An allow that is covered completely by these has no effect."""

    def __init__(self, file: AclFile) -> None:
        self.indexes: dict[tuple[ResourceType, str], PatternIndex[int]] = {}
        self.acls = file.acls
        # A deny that repeats others is left out: each allow looks at all of those that cover it.
        said: defaultdict[tuple[ResourceType, Pattern, str], set[Operation]] = defaultdict(set)
        for index, acl in enumerate(file.acls):
            if acl.permission is Permission.DENY and not acl.ours and _from_anywhere(acl):
                for kind, pattern in acl.resources():
                    if pattern == (PatternType.PREFIXED, ""):
                        continue  # it does not deny "any topic at all", see Snapshot.decide_by_type
                    for principal in acl.principals:
                        if not said[kind, pattern, principal].issuperset(acl.to):
                            said[kind, pattern, principal].update(acl.to)
                            self.indexes.setdefault((kind, principal), PatternIndex()).put(pattern, index)
        for each in self.indexes.values():
            each.close()

    def whole(self, acl: AclRule) -> list[int] | None:
        """The indexes of denies that together cover all that a rule allows; None if something is allowed."""
        by: set[int] = set()
        for kind, pattern in acl.resources():
            for principal in acl.principals:
                denying = self._denying(acl, kind, pattern, principal)
                if denying is None:
                    return None
                by |= denying
        return sorted(by)

    def _denying(self, acl: AclRule, kind: ResourceType, pattern: Pattern, principal: str) -> set[int] | None:
        by: set[int] = set()
        left = {
            operation
            for operation in ASKED[kind]
            if any(answers(Permission.ALLOW, it) >> operation & 1 for it in acl.to)
        }
        if not left:
            return None  # no broker asks for it, and that is told by itself
        for who in (principal, EVERYBODY):
            found = self.indexes.get((kind, who))
            for index in found.covering(pattern) if found else ():
                taken = {operation for operation in left if {operation, Operation.ALL} & set(self.acls[index].to)}
                left -= taken
                if taken:
                    by.add(index)
                if not left:
                    return by
        return None


def _from_anywhere(acl: AclRule) -> bool:
    return acl.from_ is None or any(host.is_anywhere for host in acl.from_)
