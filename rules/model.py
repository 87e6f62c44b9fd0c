"""The declaration of a file of ACL rules: its options, with their types, descriptions and examples.

People read the declaration, and a file is validated by it. Every option has a description and an example; a message
offers the example where the option is missing or wrong. Nothing here changes once it is loaded.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from proxy.text.file import Items, Section
from proxy.text.words import shown, wrong
from rules.conditions import Conditions
from rules.values import Clusters, Given, Operations, Pattern, Patterns, Principals, SuperUsers
from rules.vocabulary import Permission, ResourceType

# The options that name resources, one for each type of resource.
RESOURCES = {
    "topics": ResourceType.TOPIC,
    "groups": ResourceType.GROUP,
    "cluster": ResourceType.CLUSTER,
    "transactional_ids": ResourceType.TRANSACTIONAL_ID,
    "delegation_tokens": ResourceType.DELEGATION_TOKEN,
    "users": ResourceType.USER,
}
OPTION = {kind: option for option, kind in RESOURCES.items()}


class AclRule(Conditions):
    """One rule: who is allowed or denied to do what, with what, and from where."""

    allow: Given[Principals] = Field(
        default=None, description="The principals that are allowed.", examples=["User:alice"]
    )
    deny: Given[Principals] = Field(
        default=None, description="The principals that are denied, whatever other rules allow.", examples=["User:*"]
    )
    to: Operations = Field(description="The operations.", examples=["[Read, Describe]"])
    topics: Given[Patterns] = Field(default=None, description="The topics.", examples=["[orders, payments-*]"])
    groups: Given[Patterns] = Field(default=None, description="The groups.", examples=["alice-*"])
    cluster: Given[Clusters] = Field(default=None, description="The cluster itself.", examples=["true"])
    transactional_ids: Given[Patterns] = Field(default=None, description="The transactional ids.", examples=["alice-*"])
    delegation_tokens: Given[Patterns] = Field(
        default=None, description="The delegation tokens, by id.", examples=['"*"']
    )
    users: Given[Patterns] = Field(
        default=None, description="The users whose delegation tokens it is about.", examples=["User:alice"]
    )

    @property
    def permission(self) -> Permission:
        return Permission.ALLOW if self.deny is None else Permission.DENY

    @property
    def principals(self) -> tuple[str, ...]:
        return (self.deny if self.deny is not None else self.allow) or ()

    def resources(self) -> Iterator[tuple[ResourceType, Pattern]]:
        """Every resource that the rule names."""
        for option, kind in RESOURCES.items():
            for pattern in getattr(self, option) or ():
                yield kind, pattern


def _rule(value: object) -> object:
    if not isinstance(value, dict):
        raise wrong(f"{shown(value)} is no rule", 'write e.g. "{allow: User:alice, to: Read, topics: orders}"')
    return value


class AclFile(Section):
    """One file of rules of who may do what."""

    super_users: SuperUsers = Field(
        default=(),
        description="The principals that may do everything, whatever the rules say. Kafka's `super.users`.",
        examples=["[User:admin]"],
    )
    unmatched: Literal["deny", "allow"] = Field(
        default="deny",
        description="What holds for a resource that no rule names. Kafka's `allow.everyone.if.no.acl.found`.",
        examples=["deny"],
    )
    acls: Items[Annotated[AclRule, BeforeValidator(_rule)]] = Field(
        default=(),
        description="The rules, in any order: a deny wins.",
        examples=["[{allow: User:alice, to: Read, topics: orders}]"],
    )
