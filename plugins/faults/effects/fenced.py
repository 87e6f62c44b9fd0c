"""Fenced: a client gets the error that another one has taken its place, as its protocol and version have it.

Rules:
* `member`: the group does not know the member any more. `instance`: another member has its group.instance.id.
* `producer`: another producer has its transactional id. Before PRODUCER_FENCED (KIP-588), and in Produce and
  TxnOffsetCommit to this day, brokers give INVALID_PRODUCER_EPOCH.
* The broker knows nothing of it: its groups and transactions stay as they are. `expel` and `fence` really change them.
"""

from __future__ import annotations

from enum import Enum

from pydantic import Field

from plugins.faults.preset import Codes, CodeSince, PresetAnswer, always
from proxy.plugin import (
    ADD_OFFSETS_TO_TXN,
    ADD_PARTITIONS_TO_TXN,
    CONSUMER_GROUP_HEARTBEAT,
    END_TXN,
    HEARTBEAT,
    INIT_PRODUCER_ID,
    JOIN_GROUP,
    OFFSET_COMMIT,
    PRODUCE,
    SHARE_GROUP_HEARTBEAT,
    STREAMS_GROUP_HEARTBEAT,
    SYNC_GROUP,
    TXN_OFFSET_COMMIT,
    ErrorCode,
)


class Fenced(Enum):
    """What is fenced."""

    MEMBER = "member"
    INSTANCE = "instance"
    PRODUCER = "producer"


def _fenced_since(version: int) -> tuple[CodeSince, ...]:
    return CodeSince(version, ErrorCode.PRODUCER_FENCED), CodeSince(0, ErrorCode.INVALID_PRODUCER_EPOCH)


INSTANCE = ErrorCode.FENCED_INSTANCE_ID
CODES: dict[Fenced, Codes] = {
    Fenced.MEMBER: always(HEARTBEAT, JOIN_GROUP, SYNC_GROUP, OFFSET_COMMIT, code=ErrorCode.UNKNOWN_MEMBER_ID)
    | always(CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT, code=ErrorCode.UNKNOWN_MEMBER_ID)
    | {TXN_OFFSET_COMMIT: (CodeSince(3, ErrorCode.UNKNOWN_MEMBER_ID),)},
    Fenced.INSTANCE: {
        HEARTBEAT: (CodeSince(3, INSTANCE),),
        SYNC_GROUP: (CodeSince(3, INSTANCE),),
        JOIN_GROUP: (CodeSince(5, INSTANCE),),
        OFFSET_COMMIT: (CodeSince(7, INSTANCE),),
        TXN_OFFSET_COMMIT: (CodeSince(3, INSTANCE),),
        CONSUMER_GROUP_HEARTBEAT: (CodeSince(0, INSTANCE),),
        STREAMS_GROUP_HEARTBEAT: (CodeSince(0, INSTANCE),),
    },
    Fenced.PRODUCER: {
        ADD_OFFSETS_TO_TXN: _fenced_since(2),
        ADD_PARTITIONS_TO_TXN: _fenced_since(2),
        END_TXN: _fenced_since(2),
        INIT_PRODUCER_ID: _fenced_since(4),
    }
    | always(PRODUCE, TXN_OFFSET_COMMIT, code=ErrorCode.INVALID_PRODUCER_EPOCH),
}


class FencedClient(PresetAnswer):
    """Answer with the error of a fenced client."""

    who: Fenced = Field(description="As what it is fenced.", examples=["producer"])

    @property
    def codes(self) -> Codes:
        return CODES[self.who]
