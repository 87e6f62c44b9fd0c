"""Read replica: an answer sends a consumer to another broker (KIP-392), which may lack the partition, or not exist.

As with real brokers, such an answer has no records: the consumer is to fetch them there.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, ClassVar

from pydantic import Field

from plugins.faults.about import RECORDS_LEVEL
from plugins.faults.effect import Target
from plugins.faults.kinds import PartsEffect, SaidSince
from proxy.plugin import FETCH, Decision, Forward
from rules.trigger import Firing


class ToldReplica(Enum):
    """Where a consumer is sent."""

    OTHER = "other"
    UNKNOWN = "unknown"


class FalseReadReplica(PartsEffect):
    """Send consumers to another broker."""

    apis: ClassVar = frozenset({FETCH})
    since: ClassVar = SaidSince(FETCH, 11, "name no replica to read from")
    nothing: ClassVar = "the answer has no partition that is meant"

    who: ToldReplica = Field(
        default=ToldReplica.OTHER, description="Another broker, or one that nobody knows.", examples=["unknown"]
    )

    def cannot(self, target: Target) -> str | None:
        is_known = self.who is ToldReplica.UNKNOWN or _others(target)
        return super().cannot(target) or (None if is_known else "no other broker is known")

    def parts(self, target: Target) -> Iterator[Any]:
        return (it for it in target.structs(RECORDS_LEVEL) if not it.error_code)

    def apply(self, target: Target, firing: Firing) -> Decision:
        unknown = max(target.ctx.topology.brokers, default=0) + 1
        told = unknown if self.who is ToldReplica.UNKNOWN else _others(target)[0]
        for partition in self.parts(target):
            partition.preferred_read_replica, partition.records = told, b""
        return Forward(target.message)


def _others(target: Target) -> list[int]:
    """The other brokers by id, beginning with the ids above this broker's."""
    here = target.ctx.connection.broker_id
    known = sorted(it for it in target.ctx.topology.brokers if it != here)
    return [it for it in known if it > (here or 0)] + [it for it in known if it <= (here or 0)]
