"""Requests of group members and transactional producers, in each protocol."""

from __future__ import annotations

from typing import Any

from proxy.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from proxy.protocol.messages.end_txn import EndTxnRequest
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from proxy.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest

MEMBER: dict[str, Any] = {"group_id": "g", "member_id": "m"}


def heartbeat() -> HeartbeatRequest:
    return HeartbeatRequest(**MEMBER, generation_id=1)


def of_epoch(epoch: int) -> dict[str, Any]:
    """The heartbeats of the newer group protocols with this epoch, by kind of group."""
    return {
        "consumer": ConsumerGroupHeartbeatRequest(**MEMBER, member_epoch=epoch),
        "share": ShareGroupHeartbeatRequest(**MEMBER, member_epoch=epoch),
        "streams": StreamsGroupHeartbeatRequest(
            **MEMBER, member_epoch=epoch, endpoint_information_epoch=3, shutdown_application=False
        ),
    }


def end_txn() -> EndTxnRequest:
    return EndTxnRequest(transactional_id="t", producer_id=7, producer_epoch=1, committed=True)
