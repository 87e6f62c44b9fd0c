"""Recreated: a topic has another id than before, as if it had been deleted and created again with the same name.

A client that believes it asks for an id that no broker knows, and gets UNKNOWN_TOPIC_ID.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from plugins.faults.effect import Target
from plugins.faults.kinds import PartsEffect, SaidSince
from proxy.plugin import DESCRIBE_TOPIC_PARTITIONS, METADATA, Decision, Forward
from proxy.plugin.schema import NO_UUID
from rules.trigger import Firing


class RecreatedTopic(PartsEffect):
    """Give the topics that match another id, always the same one."""

    apis: ClassVar = frozenset({DESCRIBE_TOPIC_PARTITIONS, METADATA})
    since: ClassVar = SaidSince(METADATA, 10, "say no ids of topics")
    nothing: ClassVar = "the answer has no topic that is meant"

    def apply(self, target: Target, firing: Firing) -> Decision:
        for topic in list(self.parts(target)):
            topic.topic_id = bytes(byte ^ 0xFF for byte in topic.topic_id)
        return Forward(target.message)

    def parts(self, target: Target) -> Iterator[Any]:
        return (it for it in target.structs("topic") if not it.error_code and it.topic_id != NO_UUID)
