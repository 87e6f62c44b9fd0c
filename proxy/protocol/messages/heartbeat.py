"""Heartbeat (key 12): a member of a classic group is still there."""

from proxy.protocol.api import HEARTBEAT
from proxy.protocol.schema import Request, Response, since
from proxy.protocol.wire import Error, GroupId, MemberId, ThrottleTime, int32


class HeartbeatRequest(Request, api=HEARTBEAT):
    """I am still here."""

    group_id: GroupId
    generation_id: int32
    member_id: MemberId
    group_instance_id: MemberId | None = since(3, default=None)


class HeartbeatResponse(Response, api=HEARTBEAT):
    """Go on, or join again: REBALANCE_IN_PROGRESS."""

    throttle_time_ms: ThrottleTime = since(1)
    error_code: Error
