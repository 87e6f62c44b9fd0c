"""A match: which requests a rule is about. Faults and audit levels use it; ACL rules have resources instead.

Rules:
* Every option that is given must hold; an option that is left out holds always. An empty match is about every request.
* A condition on a property of the client that is not known does not hold.
* `of_request` says whether a rule may concern a request at all. Its answer is the same for all requests of one API and
  version on a connection, but for the hours (`is_now`).
* A request is about several subjects at a time (topics, partitions, groups), and `of_subject` is asked about each. A
  rule that names a topic is not about requests that have none.
* Names are patterns here too: `orders*` is a prefix, `User:*` is every user.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from pydantic import Field, PlainValidator

from proxy.protocol.api import APIS, Api
from proxy.text.words import nearest, shown, wrong
from rules.conditions import Client, Condition, Conditions, named_conditions
from rules.values import Given, OneOrMany, Pattern, Patterns, pattern, principal
from rules.vocabulary import PatternType

OF_THINGS = ("topic", "partition", "group", "transactional_id")

_VERSIONS = re.compile(r"[0-9]{1,5}(-[0-9]{1,5})?")  # a version has 16 bits
_BY_NAME = {api.name: api for api in APIS.values()}


def api(value: object) -> Api:
    """Read the name of an API: `Produce`."""
    found = _BY_NAME.get(value) if isinstance(value, str) else None
    if found is None:
        raise wrong(f"unknown api {shown(value)}", nearest(str(value), _BY_NAME))
    return found


def versions(value: object) -> range:
    """Read a version, `9`, or several, `3-9`."""
    first, _, last = str(value).partition("-")
    if isinstance(value, bool) or not _VERSIONS.fullmatch(str(value)):
        raise wrong(f"{shown(value)} is not a version", 'write e.g. "9" or "3-9"')
    found = range(int(first), int(last or first) + 1)
    if not found:
        raise wrong(f"{shown(value)} ends before it begins", f'write "{last}-{first}"')
    return found


def number(value: object) -> int:
    """Read a number that counts from 0."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        raise wrong(f"{shown(value)} is text", "a partition or a broker is a number; leave the quotes out")
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise wrong(f"{shown(value)} is not a number of a partition or a broker", "they count from 0")
    return value


def principal_pattern(value: object) -> Pattern:
    """Read the name of a principal, which begins with its type, or a pattern of names."""
    found = pattern(value)
    if found.type is PatternType.LITERAL and not found.is_every:
        principal(found.name)
    return found


Apis = OneOrMany[Annotated[Api, PlainValidator(api)]]
RuleVersions = OneOrMany[Annotated[range, PlainValidator(versions)]]
RuleNumbers = OneOrMany[Annotated[int, PlainValidator(number)]]
RulePrincipals = OneOrMany[Annotated[Pattern, PlainValidator(principal_pattern)]]


class RequestFacts(NamedTuple):
    """The properties of a request as a whole. `broker`: the node id of the broker that it goes to, if it is known."""

    api: Api
    version: int
    client: Client
    broker: int | None = None


class Subject(NamedTuple):
    """One of the subjects of a request, e.g. a partition. A property that it does not have is None."""

    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    transactional_id: str | None = None


class Match(Conditions):
    """Which requests are meant."""

    api: Given[Apis] = Field(default=None, description="The APIs of the requests.", examples=["[Produce, Fetch]"])
    version: Given[RuleVersions] = Field(default=None, description="The versions of these APIs.", examples=["3-9"])
    broker: Given[RuleNumbers] = Field(
        default=None, description="The brokers that requests go to, by node id.", examples=["2"]
    )
    principal: Given[RulePrincipals] = Field(
        default=None, description="The principals of the clients.", examples=["User:alice"]
    )
    topic: Given[Patterns] = Field(
        default=None, description="The topics that requests are about.", examples=["orders*"]
    )
    partition: Given[RuleNumbers] = Field(
        default=None, description="The partitions that requests are about.", examples=["0"]
    )
    group: Given[Patterns] = Field(
        default=None, description="The groups that requests are about.", examples=["payments-*"]
    )
    transactional_id: Given[Patterns] = Field(
        default=None, description="The transactional ids that requests are about.", examples=["payments-*"]
    )

    @property
    def apis(self) -> frozenset[Api]:
        """The APIs whose requests may match. A caller need not look into others."""
        return frozenset(APIS.values() if self.api is None else self.api)

    @cached_property
    def conditions(self) -> dict[str, Condition]:
        """The conditions on the client; those on the time are left out."""
        return {option: condition for option, condition in named_conditions(self) if option != "during"}

    def of_request(self, request: RequestFacts) -> bool:
        """Whether a subject of this request may match, at some time."""
        return (
            (self.api is None or request.api in self.api)
            and self.is_of_version(request.version)
            and named(self.principal, request.client.principal)
            and self.of_connection(request.client, request.broker)
        )

    def of_connection(self, client: Client, broker: int | None) -> bool:
        """Whether a connection may match before its first request came. What requests are about is not asked."""
        return among(self.broker, broker) and all(condition(client, None) for condition in self.conditions.values())

    def is_now(self, at: float) -> bool:
        """Whether the hours hold at this time, in seconds since 1970."""
        return self.during is None or self.during.holds(at)

    @cached_property
    def of_things(self) -> tuple[str, ...]:
        """The options given that are about subjects."""
        return tuple(option for option in OF_THINGS if getattr(self, option) is not None)

    def of_subject(self, subject: Subject, *, is_part: bool = False) -> bool:
        """Whether this subject matches, in a request that may match.

        `is_part`: it is enough that it may be a part of a subject that matches. A property that it does not have does
        not count against it then.
        """
        return all(self.holds(option, getattr(subject, option), is_part=is_part) for option in self.of_things)

    def holds(self, option: str, value: Any, *, is_part: bool = False) -> bool:
        """Whether the value of `option`, one of those about subjects, matches this value."""
        if value is None:
            return is_part
        said = getattr(self, option)
        return value in said if option == "partition" else named(said, value)

    def is_of_version(self, version: int) -> bool:
        """Whether requests in this version may match."""
        return self.version is None or any(version in some for some in self.version)


def named(patterns: tuple[Pattern, ...] | None, name: str | None) -> bool:
    """Whether one of the patterns matches this name; without patterns every name matches."""
    if patterns is None:
        return True
    return name is not None and any(pattern.is_every or pattern.holds(name) for pattern in patterns)


def among(numbers: Container[int] | None, number: int | None) -> bool:
    """Whether this number is one of the numbers; without numbers every one is."""
    return numbers is None or (number is not None and number in numbers)
