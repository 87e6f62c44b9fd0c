"""Redaction: rules that keep names of people, and of the things that they use, out of the journal, or disguise them.

    redact:
      - {fields: principal, names: "User:svc-*", how: keep}
      - {fields: [principal, client_id], how: hash}
      - {fields: client_host, how: mask}

Rules:
* Of the rules that name the field, the first one that matches the name and the principal of the event decides.
* If a name or a principal is not known, a rule that asks for it holds, unless it is a rule that keeps names.
* A field of a rule is a kind of name, wherever it stands in an event: `principal` is also the user whose ACL, quota
  or password an administrator changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Annotated

from pydantic import Field, PlainValidator, WithJsonSchema

from plugins.audit.pseudonyms import Pseudonyms
from proxy.plugin import wrong
from proxy.plugin.files import Section, nearest, shown
from rules.values import Given, OneOrMany, Pattern, Patterns

MASK = "***"
NETWORKS = {4: 24, 6: 48}  # bits of an address that a mask leaves
KEPT = ("*", "<default>")  # in the place of a name they mean all names
LONGEST_REMEMBERED = 250  # characters of a cached name
MOST_REMEMBERED = 10_000
FIELDS = {
    "principal": "who somebody is: of clients, logins, ACLs, quotas, credentials",
    "client_host": "addresses",
    "client_id": "what clients call themselves",
    "tls_subject": "subjects of certificates",
    "topic": "topics, with their ids",
    "group": "groups",
    "transactional_id": "transactional ids",
}
ONE_OR_MANY = WithJsonSchema({"type": ["string", "array"], "items": {"type": "string"}, "minItems": 1})


class Method(Enum):
    """What is done to a name."""

    KEEP = "keep"
    LEAVE_OUT = "leave_out"
    MASK = "mask"
    HASH = "hash"


def _field(value: object) -> str:
    if not isinstance(value, str) or value not in FIELDS:
        raise wrong(f"unknown field {shown(value)}", nearest(str(value), FIELDS))
    return value


def _how(value: object) -> Method:
    words = {how.value: how for how in Method}
    if not isinstance(value, str) or value not in words:
        raise wrong(f"{shown(value)} is no way to redact", nearest(str(value), words))
    return words[value]


class RedactionRule(Section):
    """One rule: which names it is about, in whose events, and what is done to them."""

    fields: Annotated[OneOrMany[Annotated[str, PlainValidator(_field)]], ONE_OR_MANY] = Field(
        description=f"The kinds of names: {', '.join(FIELDS)}.", examples=["[principal, client_id]"]
    )
    how: Annotated[Method, PlainValidator(_how)] = Field(
        description="`keep`; `leave_out`; `mask`: `***`, and of an address its network (/24, of IPv6 /48); `hash`: a "
        "keyed hash (HMAC-SHA256), the same each time.",
        examples=["hash"],
    )
    names: Given[Annotated[Patterns, ONE_OR_MANY]] = Field(
        default=None, description="Only these names; without it, all.", examples=["[patients-*]"]
    )
    principals: Given[Annotated[Patterns, ONE_OR_MANY]] = Field(
        default=None, description="Only in events of these principals; without it, of all.", examples=['["User:hr-*"]']
    )

    def __str__(self) -> str:
        said = f"{', '.join(self.fields)}: {self.how.value}"
        for word, patterns in (("names", self.names), ("principals", self.principals)):
            if patterns is not None:
                said += f" {word} {', '.join(str(one.written) for one in patterns)}"
        return said

    def holds(self, field: str, name: str | None, principal: str | None) -> bool:
        """Whether the rule matches this name in an event of this principal. None: not known."""
        return field in self.fields and self._is_one(self.names, name) and self._is_one(self.principals, principal)

    def _is_one(self, patterns: Sequence[Pattern] | None, name: str | None) -> bool:
        if patterns is None:
            return True
        return self.how is not Method.KEEP if name is None else any(one.holds(name) for one in patterns)


class Redaction:
    """The rules of one journal. `pseudonyms` None: no rule hashes."""

    def __init__(self, rules: Sequence[RedactionRule], pseudonyms: Pseudonyms | None) -> None:
        self.rules = rules
        self.pseudonyms = pseudonyms
        self._decided = lru_cache(MOST_REMEMBERED)(self._decide)
        self._made = lru_cache(MOST_REMEMBERED)(self._make)

    def how(self, field: str, name: str | None, principal: str | None) -> Method:
        """How this name in an event of this principal is redacted. None: not known."""
        is_short = max(len(name or ""), len(principal or "")) <= LONGEST_REMEMBERED
        return (self._decided if is_short else self._decide)(field, name, principal)

    def _decide(self, field: str, name: str | None, principal: str | None) -> Method:
        return next((rule.how for rule in self.rules if rule.holds(field, name, principal)), Method.KEEP)

    def shown(self, how: Method, field: str, name: str) -> str | None:
        """The text in place of the name; None: it is left out."""
        return (self._made if len(name) <= LONGEST_REMEMBERED else self._make)(how, field, name)

    def _make(self, how: Method, field: str, name: str) -> str | None:
        if how is Method.KEEP:
            return name
        kind, bare = name.split(":", 1) if field == "principal" and ":" in name else ("", name)
        if bare in KEPT:
            return name
        if how is Method.LEAVE_OUT:
            return None
        before = f"{kind}:" if kind else ""
        if how is Method.HASH:
            assert self.pseudonyms is not None, "rules that hash come with a key"
            return before + self.pseudonyms.of(field, bare)
        return _network(name) if field == "client_host" else before + MASK


@lru_cache(100)
def hashed(pseudonyms: Pseudonyms, name: str, kinds: tuple[str, ...]) -> frozenset[str]:
    """The forms of a name in a journal in which names are hashed: one for each kind that it may have."""
    redaction = Redaction((), pseudonyms)
    return frozenset(shown for kind in kinds if (shown := redaction.shown(Method.HASH, kind, name)) is not None)


def _network(host: str) -> str:
    """The first address of the network that a host is in."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return MASK
    return str(ip_network((address, NETWORKS[address.version]), strict=False).network_address)
