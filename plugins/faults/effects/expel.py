"""Expel: a member is taken out of its group without knowing it, and the group goes on without it.

Before the broker gets the member's request, the proxy sends a request that the member leaves, in the protocol of its
group. So everything after it is real: the others rebalance, and the broker answers that it does not know the member.
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
    """Take the member that sent the request out of its group."""

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
    """The request that the member would send to leave."""
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
