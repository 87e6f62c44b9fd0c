"""Leader: Metadata or DescribeTopicPartitions says that a partition has no leader, or names a false one.

A client that believes it sends requests to a broker that does not lead, and learns of it from that broker's answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, ClassVar

from pydantic import Field

from plugins.faults.effect import Target
from plugins.faults.kinds import PartsEffect
from proxy.plugin import DESCRIBE_TOPIC_PARTITIONS, METADATA, Decision, ErrorCode, Forward
from rules.trigger import Firing

NOBODY = -1


class ToldLeader(Enum):
    """The leader in the answer."""

    NONE = "none"
    OTHER = "other"


class FalseLeader(PartsEffect):
    """Name another leader, or none, for partitions that match."""

    apis: ClassVar = frozenset({DESCRIBE_TOPIC_PARTITIONS, METADATA})
    nothing: ClassVar = "the answer has no partition that is meant and led"

    who: ToldLeader = Field(description="Nobody, or another broker of the answer.", examples=["none"])

    def cannot(self, target: Target) -> str | None:
        if self.who is ToldLeader.OTHER and len(_brokers(target)) < 2:
            return "the answer names no other broker"
        return super().cannot(target)

    def parts(self, target: Target) -> Iterator[Any]:
        return (partition for partition in target.structs("partition") if partition.leader_id != NOBODY)

    def apply(self, target: Target, firing: Firing) -> Decision:
        brokers = _brokers(target)
        for partition in list(self.parts(target)):
            if self.who is ToldLeader.OTHER:
                partition.leader_id = next((it for it in brokers if it > partition.leader_id), brokers[0])
            else:
                partition.leader_id, partition.error_code = NOBODY, ErrorCode.LEADER_NOT_AVAILABLE
        return Forward(target.message)


def _brokers(target: Target) -> list[int]:
    """The brokers that Metadata names. DescribeTopicPartitions names none; then all known brokers."""
    if target.ctx.api is METADATA:
        return sorted(broker.node_id for broker in target.message.brokers)
    return sorted(target.ctx.topology.brokers)
