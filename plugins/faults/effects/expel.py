"""Expel: a member leaves its group without knowing it, and the group goes on without it.

The broker is told that the member leaves, in the protocol of its group, before it gets the request of the member. So
all that follows is real: the others rebalance, and the member is told by the broker that it is none.
"""

from __future__ import annotations

from typing import ClassVar

from plugins.faults.effect import Effect, Target
from proxy.plugin import (
    CONSUMER_GROUP_HEARTBEAT,
    HEARTBEAT,
    OFFSET_COMMIT,
    SHARE_GROUP_HEARTBEAT,
    STREAMS_GROUP_HEARTBEAT,
    SYNC_GROUP,
    Ask,
    ConsumerGroupHeartbeatRequest,
    LeaveGroupRequest,
    Request,
    ShareGroupHeartbeatRequest,
    Steps,
    StreamsGroupHeartbeatRequest,
)
from rules.trigger import Firing

CLASSIC = frozenset({HEARTBEAT, OFFSET_COMMIT, SYNC_GROUP})
WITH_EPOCHS = frozenset({CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT})
LEAVES = -1  # as an epoch


class ExpelMember(Effect):
    """Have the member that asks leave its group."""

    apis: ClassVar = CLASSIC | WITH_EPOCHS

    def cannot(self, target: Target) -> str | None:
        request = target.message
        if not request.member_id:
            return "it is of no member"
        if target.ctx.api in WITH_EPOCHS and request.member_epoch <= 0:
            return "the member joins or leaves anyway"
        return None

    def apply(self, target: Target, firing: Firing) -> Steps:
        yield Ask(_leaving(target))
        return None


def _leaving(target: Target) -> Request:
    """What the member would say if it left by itself."""
    request = target.message
    group, member = request.group_id, request.member_id
    if target.ctx.api is CONSUMER_GROUP_HEARTBEAT:
        return ConsumerGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=LEAVES)
    if target.ctx.api is SHARE_GROUP_HEARTBEAT:
        return ShareGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=LEAVES)
    if target.ctx.api is STREAMS_GROUP_HEARTBEAT:
        return StreamsGroupHeartbeatRequest(
            group_id=group,
            member_id=member,
            member_epoch=LEAVES,
            endpoint_information_epoch=request.endpoint_information_epoch,
            shutdown_application=False,
        )
    instance = request.group_instance_id
    member_of = LeaveGroupRequest.Member(member_id=member, group_instance_id=instance)
    return LeaveGroupRequest(group_id=group, member_id=member, members=[member_of])
