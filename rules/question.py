"""A question: may this client do this with the resource of this name?

Rules:
* Without a name it is the question of KIP-679: may the client do this with any resource of the type at all?
"""

from __future__ import annotations

from dataclasses import dataclass

from rules.conditions import Client
from rules.snapshot import RuleDecision, Snapshot
from rules.vocabulary import Operation, ResourceType


@dataclass(frozen=True, slots=True)
class AccessQuestion:
    """What the rules are asked. `at`: seconds since 1970 UTC, if known."""

    client: Client
    operation: Operation
    kind: ResourceType
    name: str | None
    at: float | None = None

    def put(self, snapshot: Snapshot) -> RuleDecision:
        """The decision of these rules."""
        if self.name is None:
            return snapshot.decide_by_type(self.client, self.operation, self.kind, self.at)
        return snapshot.decide(self.client, self.operation, self.kind, self.name, self.at)

    @property
    def noun(self) -> str:
        return self.kind.name.lower().replace("_", " ")
