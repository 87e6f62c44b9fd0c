"""SyncGroup (key 14): DOC"""

from proxy.protocol.api import SYNC_GROUP
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, GroupId, MemberId, ThrottleTime, array, int32, string


class SyncGroupRequest(Request, api=SYNC_GROUP):
    """DOC"""

    class Assignment(Struct):
        """DOC"""

        member_id: MemberId
        assignment: bytes

    group_id: GroupId
    generation_id: int32
    member_id: MemberId
    group_instance_id: MemberId | None = since(3, default=None)
    protocol_type: string | None = since(5, default=None)
    protocol_name: string | None = since(5, default=None)
    assignments: array[Assignment]


class SyncGroupResponse(Response, api=SYNC_GROUP):
    """DOC"""

    throttle_time_ms: ThrottleTime = since(1)
    error_code: Error
    protocol_type: string | None = since(5, default=None)
    protocol_name: string | None = since(5, default=None)
    assignment: bytes
