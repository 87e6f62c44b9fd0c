"""Rebalance: members of a group are told to join again, in the words of their protocol.

Classic members are told so by Heartbeat and SyncGroup, and go on as members. Those of the newer protocols (KIP-848,
Kafka Streams, share groups), where the coordinator assigns, are fenced instead: they give up all they have and join
from the beginning. Told at each heartbeat, it is a rebalance storm.
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
    """Tell a member to join again."""

    @property
    def codes(self) -> Codes:
        return CODES
