"""Stale: Metadata says again what it said before, as a broker does that does not hear of changes any more.

What was said first since the fault is there is remembered, and said of each topic that is meant: its leaders, their
epochs, replicas, whether it is there at all; and with it the brokers that were alive.

# What did not change since is no firing: there is nothing older to say.
# Memory is bounded: what is seen of more topics or partitions is not remembered.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, ClassVar

from plugins.faults.effect import Target
from plugins.faults.kinds import AnswerEffect
from proxy.plugin import DESCRIBE_TOPIC_PARTITIONS, METADATA, Decision, Forward, turns
from proxy.plugin.schema import NO_UUID
from rules.trigger import Firing

MOST = 10_000  # partitions, topics without any among them
BROKERS = 1_000  # an answer that names more is not remembered
KEPT = "kept"  # in the memory: how many partitions are


class StaleMetadata(AnswerEffect):
    """Say what was said first."""

    apis: ClassVar = frozenset({DESCRIBE_TOPIC_PARTITIONS, METADATA})

    def remember(self, target: Target) -> None:
        memory, answer = target.memory, target.message
        for topic in turns(target.structs("topic")):
            key = _key(target, topic)
            size = max(len(topic.partitions), 1)
            if key not in memory and memory.get(KEPT, 0) + size <= MOST:
                memory[key], memory[KEPT] = deepcopy(topic), memory.get(KEPT, 0) + size
        if target.ctx.api is METADATA and _brokers(target) not in memory and len(answer.brokers) <= BROKERS:
            memory[_brokers(target)] = deepcopy(answer.brokers)

    def cannot(self, target: Target) -> str | None:
        changed = any(True for _ in self._older(target)) or self._older_brokers(target) is not None
        return None if changed else "nothing that it says was otherwise before"

    def apply(self, target: Target, firing: Firing) -> Decision:
        # What is remembered stays as it is, whatever other faults do to the answer.
        older = {id(topic): deepcopy(before) for topic, before in turns(self._older(target))}
        brokers = self._older_brokers(target)
        target.message.topics = [older.get(id(it), it) for it in target.message.topics]
        if brokers is not None:
            target.message.brokers = deepcopy(brokers)
        return Forward(target.message)

    @staticmethod
    def _older(target: Target) -> Iterator[tuple[Any, Any]]:
        """Topics of the answer that were otherwise before, and how they were."""
        for topic in target.structs("topic"):
            before = target.memory.get(_key(target, topic), topic)
            if before != topic:
                yield topic, before

    @staticmethod
    def _older_brokers(target: Target) -> Any:
        """The brokers that there were before, if they were others."""
        before = target.memory.get(_brokers(target)) if target.ctx.api is METADATA else None
        return before if before is not None and before != target.message.brokers else None


def _key(target: Target, topic: Any) -> tuple[object, ...]:
    """Under which an answer about a topic is remembered: another version says other things."""
    named = topic.name if topic.name is not None or topic.topic_id == NO_UUID else topic.topic_id
    return target.ctx.api, target.ctx.version, named


def _brokers(target: Target) -> tuple[object, ...]:
    return target.ctx.api, target.ctx.version
