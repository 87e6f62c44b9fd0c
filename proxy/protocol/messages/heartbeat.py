"""Heartbeat (key 12): DOC"""

from proxy.protocol.api import HEARTBEAT
from proxy.protocol.schema import Request, Response, since
from proxy.protocol.wire import Error, GroupId, MemberId, ThrottleTime, int32


class HeartbeatRequest(Request, api=HEARTBEAT):
    """DOC"""

    group_id: GroupId
    generation_id: int32
    member_id: MemberId
    group_instance_id: MemberId | None = since(3, default=None)


class HeartbeatResponse(Response, api=HEARTBEAT):
    """DOC"""

    throttle_time_ms: ThrottleTime = since(1)
    error_code: Error
