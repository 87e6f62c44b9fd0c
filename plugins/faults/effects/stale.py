"""Stale: Metadata repeats an earlier answer, as from a broker that does not learn of changes any more.

The first answer since the fault is in force is remembered, and repeated for each topic that matches: its leaders, their
epochs, replicas, whether the topic exists; and the brokers that were alive.

Rules:
* If nothing has changed since, the fault does not fire: there is no older answer to give.
* A topic that the client may not see stays refused, and is not remembered as refused.
* Memory is bounded: topics and partitions beyond the limit are not remembered.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, ClassVar

from plugins.faults.effect import Target
from plugins.faults.kinds import AnswerEffect
from proxy.plugin import DESCRIBE_TOPIC_PARTITIONS, METADATA, Decision, ErrorCode, Forward, turns
from proxy.plugin.schema import LONGEST_TOPIC, NO_UUID
from rules.trigger import Firing

MOST = 10_000  # partitions; a topic without any counts as one, and a name longer than any of Kafka's as more
BROKERS = 1_000  # an answer that names more is not remembered
KEPT = "kept"  # the key of the number of partitions in the memory


class StaleMetadata(AnswerEffect):
    """Repeat the first answer."""

    apis: ClassVar = frozenset({DESCRIBE_TOPIC_PARTITIONS, METADATA})

    def remember(self, target: Target) -> None:
        memory, answer = target.memory, target.message
        for topic in _shown(target):
            key = _key(target, topic)
            size = max(len(topic.partitions), 1) + len(topic.name or "") // (LONGEST_TOPIC + 1)
            if key not in memory and memory.get(KEPT, 0) + size <= MOST:
                memory[key], memory[KEPT] = deepcopy(topic), memory.get(KEPT, 0) + size
        if target.ctx.api is METADATA and _brokers(target) not in memory and len(answer.brokers) <= BROKERS:
            memory[_brokers(target)] = deepcopy(answer.brokers)

    def cannot(self, target: Target) -> str | None:
        changed = any(True for _ in self._older(target)) or self._older_brokers(target) is not None
        return None if changed else "nothing that it says was otherwise before"

    def apply(self, target: Target, firing: Firing) -> Decision:
        # Copies, so that other faults on this answer do not change the memory.
        older = {id(topic): deepcopy(before) for topic, before in self._older(target)}
        brokers = self._older_brokers(target)
        target.message.topics = [older.get(id(it), it) for it in target.message.topics]
        if brokers is not None:
            target.message.brokers = deepcopy(brokers)
        return Forward(target.message)

    @staticmethod
    def _older(target: Target) -> Iterator[tuple[Any, Any]]:
        """Topics of the answer that have changed, each with its remembered state."""
        for topic in _shown(target):
            before = target.memory.get(_key(target, topic), topic)
            if before != topic:
                yield topic, before

    @staticmethod
    def _older_brokers(target: Target) -> Any:
        """The remembered brokers, if they have changed."""
        before = target.memory.get(_brokers(target)) if target.ctx.api is METADATA else None
        return before if before is not None and before != target.message.brokers else None


def _shown(target: Target) -> Iterator[Any]:
    """The topics that this client may see: all clients share the memory."""
    for topic in turns(target.structs("topic")):
        if topic.error_code != ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            yield topic


def _key(target: Target, topic: Any) -> tuple[object, ...]:
    """The key of a topic's memory; answers in another version have other fields."""
    named = topic.name if topic.name is not None or topic.topic_id == NO_UUID else topic.topic_id
    return target.ctx.api, target.ctx.version, named


def _brokers(target: Target) -> tuple[object, ...]:
    return target.ctx.api, target.ctx.version
