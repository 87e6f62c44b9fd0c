"""Missing: an answer about the cluster leaves something out, as if the broker did not know it yet.

Rules:
* `topic`: a topic that is asked for by name is unknown; a list of all topics lacks it. `partition`: its topic lacks it.
* `broker`: the broker is not alive: its partitions have no leader, and it is in no set of in-sync replicas.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any

from pydantic import Field, StrictInt

from plugins.faults.about import at_level
from plugins.faults.effect import Target
from plugins.faults.kinds import PartsEffect
from proxy.plugin import (
    DESCRIBE_CLUSTER,
    DESCRIBE_TOPIC_PARTITIONS,
    METADATA,
    Api,
    Decision,
    ErrorCode,
    Forward,
    turns,
)
from rules.trigger import Firing
from rules.values import Given

NOBODY = -1


class Missing(Enum):
    """What is left out."""

    TOPIC = "topic"
    PARTITION = "partition"


class MissingInMetadata(PartsEffect):
    """Leave topics, partitions or a broker out."""

    what: Given[Missing] = Field(default=None, description="Topics or partitions that are meant.", examples=["topic"])
    broker: Given[Annotated[StrictInt, Field(ge=0)]] = Field(
        default=None, description="The broker of this node id.", examples=["2"]
    )

    @property
    def apis(self) -> frozenset[Api]:
        of_broker = {DESCRIBE_CLUSTER, METADATA} if self.broker is not None else {METADATA}
        return frozenset({DESCRIBE_TOPIC_PARTITIONS, *of_broker})

    def problems(self, apis: frozenset[Api]) -> Iterator[tuple[str, str]]:
        if self.what is None and self.broker is None:
            yield "", 'it does not say what is missing; write e.g. "missing: topic" or "missing: {broker: 2}"'
        elif self.what is not None and self.broker is not None:
            yield "broker", '"what" and "broker" are two faults; make two of it'

    def cannot(self, target: Target) -> str | None:
        if self.broker is None:
            return super().cannot(target)
        return None if _names(target, self.broker) else f"the answer does not name broker {self.broker}"

    @property
    def nothing(self) -> str:
        assert self.what is not None
        return f"the answer has no {self.what.value} that is meant"

    def parts(self, target: Target) -> Iterator[Any]:
        name = "topic" if self.what is Missing.TOPIC else "partition"
        return (it for it in target.structs(name) if not it.error_code)

    def apply(self, target: Target, firing: Firing) -> Decision:
        if self.broker is not None:
            _without_broker(target, self.broker)
            return Forward(target.message)
        meant = {id(it) for it in self.parts(target)}
        for topic in turns(target.message.topics):
            if self.what is Missing.PARTITION:
                topic.partitions = [it for it in topic.partitions if id(it) not in meant]
            elif id(topic) in meant:
                topic.error_code, topic.partitions = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, []
        if target.asks_all:
            target.message.topics = [it for it in target.message.topics if id(it) not in meant]
        return Forward(target.message)


def node_id(broker: Any) -> int:
    """The id of a broker in an answer. Metadata and DescribeCluster have different names for the field."""
    found: int = broker.node_id if hasattr(broker, "node_id") else broker.broker_id
    return found


def _partitions(target: Target) -> Iterator[Any]:
    """All partitions of the answer, whether they match or not: a broker is alive for all of them or for none."""
    return (it for it, _ in at_level(target.message, target.ctx.version, "partition", target.subject, target.name_of))


def _names(target: Target, broker: int) -> bool:
    """Whether an answer names this broker."""
    if target.ctx.api is not DESCRIBE_TOPIC_PARTITIONS:
        return any(node_id(it) == broker for it in target.message.brokers)
    return any(broker in (it.leader_id, *it.isr_nodes, *it.replica_nodes) for it in _partitions(target))


def _without_broker(target: Target, gone: int) -> None:
    """Change an answer to what a broker answers when this one is not alive."""
    answer = target.message
    if target.ctx.api is not DESCRIBE_TOPIC_PARTITIONS:
        answer.brokers = [it for it in answer.brokers if node_id(it) != gone]
        if answer.controller_id == gone:
            answer.controller_id = next(map(node_id, answer.brokers), NOBODY)
    if target.ctx.api is DESCRIBE_CLUSTER:
        return
    for partition in _partitions(target):
        partition.isr_nodes = [it for it in partition.isr_nodes if it != gone]
        if gone in partition.replica_nodes and gone not in partition.offline_replicas:
            partition.offline_replicas = [*partition.offline_replicas, gone]
        if partition.leader_id == gone:
            partition.leader_id, partition.error_code = NOBODY, ErrorCode.LEADER_NOT_AVAILABLE
