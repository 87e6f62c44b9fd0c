"""Leader: Metadata that is not true: a partition has no leader, or another one than the broker says.

A client that believes it asks a broker that is no leader, and learns the truth from that one's answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from pydantic import Field

from plugins.faults.effect import Effect, FaultSide, Target
from proxy.plugin import METADATA, Api, Decision, ErrorCode, Forward
from rules.trigger import Firing

NOBODY = -1


class ToldLeader(Enum):
    """Who is said to lead."""

    NONE = "none"
    OTHER = "other"


class FalseLeader(Effect):
    """Say another leader of the partitions that are meant."""

    who: ToldLeader = Field(description="Nobody, or another broker of the answer.", examples=["none"])

    @property
    def at(self) -> FaultSide:
        return FaultSide.AFTER_BROKER

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        if apis != {METADATA}:
            yield "", 'only Metadata says who leads; say "match: {api: Metadata}"'

    def cannot(self, target: Target) -> str | None:
        if self.who is ToldLeader.OTHER and len(target.message.brokers) < 2:
            return "the answer names no other broker"
        return None if any(True for _ in self._led(target)) else "the answer has no partition that is meant and led"

    def apply(self, target: Target, firing: Firing) -> Decision:
        brokers = sorted(broker.node_id for broker in target.message.brokers)
        for partition in list(self._led(target)):
            if self.who is ToldLeader.OTHER:
                partition.leader_id = next((it for it in brokers if it > partition.leader_id), brokers[0])
            else:
                partition.leader_id, partition.error_code = NOBODY, ErrorCode.LEADER_NOT_AVAILABLE
        return Forward(target.message)

    @staticmethod
    def _led(target: Target) -> Iterator[Any]:
        return (partition for partition in target.structs("partition") if partition.leader_id != NOBODY)
