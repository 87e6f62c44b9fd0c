"""LeaveGroup (key 13): DOC"""

from proxy.protocol.api import LEAVE_GROUP
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import Error, GroupId, MemberId, ThrottleTime, array, string


class LeaveGroupRequest(Request, api=LEAVE_GROUP):
    """DOC"""

    class MemberIdentity(Struct):
        """DOC"""

        member_id: MemberId
        group_instance_id: MemberId | None = since(0, default=None)
        reason: string | None = since(5, default=None)

    group_id: GroupId
    member_id: MemberId = until(2)
    members: array[MemberIdentity] = since(3)


class LeaveGroupResponse(Response, api=LEAVE_GROUP):
    """DOC"""

    class MemberResponse(Struct):
        """DOC"""

        member_id: MemberId
        group_instance_id: MemberId | None
        error_code: Error

    throttle_time_ms: ThrottleTime = since(1)
    error_code: Error
    members: array[MemberResponse] = since(3)
