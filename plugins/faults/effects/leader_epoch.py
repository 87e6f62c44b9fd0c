"""Leader epoch: an answer has an older epoch of a leader than the real one, or one that has not begun yet.

A client that knows a newer epoch ignores an older one in Metadata; if it does not, the leader fences it. A client that
believes in an epoch that has not begun gets UNKNOWN_LEADER_EPOCH.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any, ClassVar

from pydantic import Field, StrictInt

from plugins.faults.effect import Target
from plugins.faults.kinds import PartsEffect
from proxy.plugin import (
    DESCRIBE_TOPIC_PARTITIONS,
    LIST_OFFSETS,
    METADATA,
    OFFSET_FETCH,
    OFFSET_FOR_LEADER_EPOCH,
    Decision,
    Forward,
)
from rules.trigger import Firing

SAID = {
    DESCRIBE_TOPIC_PARTITIONS: "leader_epoch",
    LIST_OFFSETS: "leader_epoch",
    METADATA: "leader_epoch",
    OFFSET_FETCH: "committed_leader_epoch",
    OFFSET_FOR_LEADER_EPOCH: "leader_epoch",
}


class EpochOff(Enum):
    """The epoch in the answer, relative to the real one."""

    OLDER = "older"
    NEWER = "newer"


class FalseLeaderEpoch(PartsEffect):
    """Change the leader epoch of partitions that match."""

    apis: ClassVar = frozenset(SAID)

    what: EpochOff = Field(description="An older one, or one that is not yet.", examples=["older"])
    by: Annotated[StrictInt, Field(ge=1, le=1_000_000)] = Field(
        default=1, description="How many epochs older or newer.", examples=["1"]
    )

    @property
    def nothing(self) -> str:
        older = "the answer has no partition that is meant and had an older epoch"
        return older if self.what is EpochOff.OLDER else "the answer says no epoch that is meant"

    def apply(self, target: Target, firing: Firing) -> Decision:
        name, by = SAID[target.ctx.api], self.by if self.what is EpochOff.NEWER else -self.by
        for partition in list(self.parts(target)):
            setattr(partition, name, min(max(getattr(partition, name) + by, 0), 2**31 - 1))
        return Forward(target.message)

    def parts(self, target: Target) -> Iterator[Any]:
        name, least = SAID[target.ctx.api], 1 if self.what is EpochOff.OLDER else 0
        for partition in target.structs("partition"):
            if partition.has(name) and getattr(partition, name) >= least:
                yield partition
