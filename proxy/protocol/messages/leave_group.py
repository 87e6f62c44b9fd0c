"""LeaveGroup (key 13): members leave a classic group, without waiting for their session to end.

From v3 on an administrator can send away many members at once, also by their instance id (KIP-345).
"""

from proxy.protocol.api import LEAVE_GROUP
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import Error, GroupId, MemberId, ThrottleTime, array, string


class LeaveGroupRequest(Request, api=LEAVE_GROUP):
    """These members leave."""

    class Member(Struct):
        """A member that leaves."""

        member_id: MemberId
        group_instance_id: MemberId | None = field(default=None)
        reason: string | None = since(5, default=None)

    group_id: GroupId
    member_id: MemberId = until(2)
    members: array[Member] = since(3)


class LeaveGroupResponse(Response, api=LEAVE_GROUP):
    """Who has left."""

    class Member(Struct):
        """Whether one member has left."""

        member_id: MemberId
        group_instance_id: MemberId | None
        error_code: Error

    throttle_time_ms: ThrottleTime = since(1)
    error_code: Error
    members: array[Member] = since(3, mirrors="members")
