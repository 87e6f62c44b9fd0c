"""Names of one scenario, and their form on the wire: all scenarios are in force at once, and none sees another.

Rules:
* Names and prefixes get the scenario's prefix: `orders` of scenario 17 is `s17-orders`. A `*` stays.
* `admin` and Kafka's internal names (`__consumer_offsets`) are the same for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rules.model import RESOURCES, AclRule
from rules.values import Pattern
from rules.vocabulary import EVERYBODY, WILDCARD, PatternType, ResourceType

SUPER_USER = "admin"
NOBODY = "nobody"  # a client that does not authenticate
MOST_VERSIONS = 20  # no API has more
OWN = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)


class Names:
    """The names of one scenario."""

    def __init__(self, number: int) -> None:
        self.beginning = f"s{number}-"

    def wire(self, name: str) -> str:
        """A name of the scenario in its form on the wire."""
        if not name or name in (SUPER_USER, WILDCARD) or name.startswith("__"):
            return name
        return self.beginning + name

    def principal(self, principal: str) -> str:
        """A principal, such as `User:alice`, in its form on the wire."""
        kind, colon, name = principal.partition(":")
        return principal if principal == EVERYBODY else f"{kind}{colon}{self.wire(name)}"

    def plain(self, text: str) -> str:
        """A text from the wire, with the scenario's names."""
        return text.replace(self.beginning, "")

    def is_own(self, name: str) -> bool:
        """Is this a name of the scenario, on the wire?"""
        return name.startswith(self.beginning)

    def rules(self, acls: Iterable[AclRule]) -> list[AclRule]:
        """The rules, with the names on the wire."""
        return [acl.model_copy(update=dict(self._changed(acl))) for acl in acls]

    def _changed(self, acl: AclRule) -> Iterable[tuple[str, tuple[object, ...]]]:
        for option in ("allow", "deny"):
            said = getattr(acl, option)
            if said is not None:
                yield option, tuple(map(self.principal, said))
        for option, kind in RESOURCES.items():
            patterns = getattr(acl, option)
            if patterns is not None and kind in OWN:
                yield option, tuple(map(self._pattern, patterns))
            elif patterns is not None and kind is ResourceType.USER:
                yield option, tuple(Pattern(each.type, self.principal(each.name)) for each in patterns)

    def _pattern(self, pattern: Pattern) -> Pattern:
        if pattern.is_every:
            return pattern
        wire = self.beginning + pattern.name if pattern.type is PatternType.PREFIXED else self.wire(pattern.name)
        return Pattern(pattern.type, wire)


def versioned(text: str, version: int) -> str:
    """Fill the version into a name that differs by version: `orders-$version`."""
    return re.sub(r"\$version\b", str(version), text)


def in_versions(text: str) -> list[str]:
    """All names that such a text stands for."""
    return list(dict.fromkeys(versioned(text, version) for version in range(MOST_VERSIONS)))
