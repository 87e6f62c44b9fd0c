"""The tool kafka-acls: reading what `kafka-acls --list` prints, and writing the commands that make the same ACLs.

Rules:
* A listing is read as AclCommand of 4.3 prints it, and with the blanks that older ones add. A name may have anything in
  it, quotes and line breaks too. A line that is no part of a listing is a problem, for an ACL might stand in it.
* Reading takes time by the length of the listing alone, whatever stands in it. So no search for the end of something is
  made twice, and every expression goes over its text once.
* An ACL that kafka-acls cannot make is reported, never left out in silence. The tool trims names, knows the cluster by
  one name, and refuses operations that no broker asks for, and Delete of the cluster. A command is a line that a person
  reads before it runs.
"""

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from proxy.text.places import Place
from proxy.text.problems import BadFileError, Problem
from proxy.text.words import nearest
from rules import bindings
from rules.bindings import Binding
from rules.model import AclRule
from rules.values import Pattern
from rules.vocabulary import (
    ASKED,
    CLUSTER_NAME,
    Operation,
    PatternType,
    Permission,
    ResourceType,
    Word,
    spoken,
)

# A line may end as on Windows. Elsewhere a "\r" is part of a name.
_HEAD_END = re.compile(r", patternType=(\w+)\)`:[ \t]*\r?(?:\n|\Z)")
_HEAD = re.compile(
    rf"Current ACLs for resource `ResourcePattern\(resourceType=(\w+), name=(.*?){_HEAD_END.pattern}", re.DOTALL
)
_ENTRY = re.compile(  # the host is what follows the last ", host=" of the line; no other is tried
    r"[ \t]*\(principal=(?>(.*), host=)(.*?), operation=(\w+), permissionType=(\w+)\)[ \t]*\r?(?:\n|\Z)"
)
_NOTHING = re.compile(r"[ \t]*(?:ACLs for principal `.*`[ \t]*)?\r?\n")
_LINE = re.compile(r".*(?:\n|\Z)")
_FLAG = {
    ResourceType.TOPIC: "--topic",
    ResourceType.GROUP: "--group",
    ResourceType.TRANSACTIONAL_ID: "--transactional-id",
    ResourceType.DELEGATION_TOKEN: "--delegation-token",
    ResourceType.USER: "--user-principal",
}
# The operations that the tool takes (AclEntry.supportedOperations): the right to delete every topic is none of them.
_TAKEN = {**ASKED, ResourceType.CLUSTER: ASKED[ResourceType.CLUSTER] - {Operation.DELETE}}
W = TypeVar("W", bound=Word)


class ListingError(BadFileError):
    """A listing cannot be used. Has every problem of it."""


def listed(text: str, name: str) -> list[Binding]:
    """The ACLs of a listing; `name` stands for it in the problems. Raises ListingError."""
    reading = _Listing(text, name)
    reading.read()
    if reading.problems:
        raise ListingError(reading.problems)
    return reading.found


class _Listing:
    """A listing, read from its beginning to its end."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.resource: tuple[ResourceType, Pattern] | None = None
        self.at = 0
        self.line = 1
        self.last_head_end = max((end.start() for end in _HEAD_END.finditer(text)), default=0)
        self.found: list[Binding] = []
        self.problems: list[Problem] = []

    def read(self) -> None:
        while self.at < len(self.text):
            begun = self.line
            if self.at < self.last_head_end and (head := self._next(_HEAD)):
                kind = self._word(begun, ResourceType, head[1], "resource type")
                pattern_type = self._word(begun, PatternType, head[3], "pattern type")
                self.resource = (kind, Pattern(pattern_type, head[2])) if kind and pattern_type else None
            elif entry := self._next(_ENTRY):
                self._entry(begun, entry)
            elif not self._next(_NOTHING):
                self._next(_LINE)
                self._note(begun, "this is no line of `kafka-acls --list`; give its whole output and nothing else")

    def _next(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.line += self.text.count("\n", self.at, match.end())
            self.at = match.end()
        return match

    def _entry(self, begun: int, entry: re.Match[str]) -> None:
        operation = self._word(begun, Operation, entry[3], "operation")
        permission = self._word(begun, Permission, entry[4], "permission")
        if ":" not in entry[1]:
            self._note(begun, f'"{entry[1]}" is no principal; it would be "User:{entry[1]}"')
        elif self.resource is None and not self.problems:
            self._note(begun, "this ACL stands under no resource; give the whole output, with its headings")
        elif self.resource and operation and permission:
            self.found.append(Binding(*self.resource, entry[1], entry[2], operation, permission))

    def _word(self, begun: int, kind: type[W], text: str, what: str) -> W | None:
        word = spoken(kind, text)
        if isinstance(word, kind):
            return word
        self._note(begun, f'unknown {what} "{text}"; {nearest(text, (known.name for known in kind))}')
        return None

    def _note(self, begun: int, message: str) -> None:
        self.problems.append(Problem(self.name, Place(begun, 1), message))


class Unsayable(NamedTuple):
    """An ACL that no command of kafka-acls can make, and why."""

    binding: Binding
    why: str


def commands(of: Iterable[Binding], bootstrap: str) -> tuple[list[str], list[Unsayable]]:
    """The commands that make these ACLs, and the ACLs that no command can make."""
    unsayable: list[Unsayable] = []
    alike: defaultdict[tuple[ResourceType, PatternType], list[Binding]] = defaultdict(list)
    for one in of:
        if (why := _unsayable(one)) is not None:
            unsayable.append(Unsayable(one, why))
        else:
            alike[one.kind, one.pattern.type].append(one)
    lines = [
        shlex.join(_command(acl, kind, pattern_type, bootstrap))
        for (kind, pattern_type), some in sorted(alike.items())
        for acl in bindings.rules(some)
    ]
    return lines, unsayable


def _unsayable(one: Binding) -> str | None:
    if one.operation is not Operation.ALL and one.operation not in _TAKEN[one.kind]:
        known = ", ".join(sorted(operation.word for operation in _TAKEN[one.kind]))
        asked = one.operation in ASKED[one.kind]
        why = "so create it through the Admin API" if asked else "for no broker asks for it"
        return f"kafka-acls refuses {one.operation.word} here, {why}; it takes {known}"
    if one.kind is ResourceType.CLUSTER and one.pattern != (PatternType.LITERAL, CLUSTER_NAME):
        return f'kafka-acls knows the cluster as "{CLUSTER_NAME}" only; create it through the Admin API'
    for text in (one.pattern.name, one.principal, one.host):
        if not text or text != text.strip():
            return f'kafka-acls cannot be given the text "{text}", of which it trims the ends; use the Admin API'
        if not text.isprintable():
            return f'the text "{text}" has characters that a terminal does not show; use the Admin API'
    return None


def _command(acl: AclRule, kind: ResourceType, pattern_type: PatternType, bootstrap: str) -> Iterator[str]:
    yield from ("kafka-acls", "--bootstrap-server", bootstrap, "--add")
    side = acl.permission.word.lower()
    for principal in acl.principals:
        yield from (f"--{side}-principal", principal)
    for host in acl.from_ or ():
        yield from (f"--{side}-host", host.text)
    for operation in acl.to:
        yield from ("--operation", operation.word)
    if kind is ResourceType.CLUSTER:
        yield "--cluster"
        return
    for _, pattern in acl.resources():
        yield from (_FLAG[kind], pattern.name)
    if pattern_type is PatternType.PREFIXED:
        yield from ("--resource-pattern-type", "prefixed")
