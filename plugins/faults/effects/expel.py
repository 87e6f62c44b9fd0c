"""Expel: a member is taken out of its group without knowing it, and the group goes on without it.

Before the broker gets the member's request, the proxy sends a request that the member leaves, in the protocol of its
group. So everything after it is real: the others rebalance, and the broker answers that it does not know the member.

An OffsetCommit does not show the protocol. The member leaves by one after the other, until the broker has known it.
"""

from __future__ import annotations

from collections.abc import Iterator
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
        for leaving in _leaving(target):
            answer = yield Ask(leaving)
            if not any(it.error_code for it in (answer, *getattr(answer, "members", ()))):
                break
        return None


def _leaving(target: Target) -> Iterator[Request]:
    """The requests that the member would send to leave, in each protocol that its group may have."""
    api, request = target.ctx.api, target.message
    group, member = request.group_id, request.member_id
    known = target.ctx.connection.broker_versions
    if api in CLASSIC:
        one = LeaveGroupRequest.Member(member_id=member, group_instance_id=request.group_instance_id)
        yield LeaveGroupRequest(group_id=group, member_id=member, members=[one])
    if api is CONSUMER_GROUP_HEARTBEAT or (api is OFFSET_COMMIT and CONSUMER_GROUP_HEARTBEAT.key in known):
        yield ConsumerGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=LEAVES)
    if api is SHARE_GROUP_HEARTBEAT:
        yield ShareGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=LEAVES)
    if api is STREAMS_GROUP_HEARTBEAT or (api is OFFSET_COMMIT and STREAMS_GROUP_HEARTBEAT.key in known):
        yield StreamsGroupHeartbeatRequest(
            group_id=group,
            member_id=member,
            member_epoch=LEAVES,
            endpoint_information_epoch=getattr(request, "endpoint_information_epoch", 0),
            shutdown_application=False,
        )
