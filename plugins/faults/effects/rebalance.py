"""Rebalance: members of a group get the error on which they join again.

Classic members get it in Heartbeat and SyncGroup, and stay members. In the newer protocols (KIP-848, Kafka Streams,
share groups) the coordinator assigns partitions, and members are fenced instead: they give up all partitions and join
anew. With this error at each heartbeat, there is a rebalance storm.
"""

from __future__ import annotations

from plugins.faults.preset import Codes, PresetAnswer, always
from proxy.plugin import (
    CONSUMER_GROUP_HEARTBEAT,
    HEARTBEAT,
    SHARE_GROUP_HEARTBEAT,
    STREAMS_GROUP_HEARTBEAT,
    SYNC_GROUP,
    ErrorCode,
)

CODES = always(HEARTBEAT, SYNC_GROUP, code=ErrorCode.REBALANCE_IN_PROGRESS) | always(
    CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT, code=ErrorCode.FENCED_MEMBER_EPOCH
)


class Rebalance(PresetAnswer):
    """Answer with the error on which a member joins again."""

    @property
    def codes(self) -> Codes:
        return CODES
