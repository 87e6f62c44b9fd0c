"""JoinGroup (key 11): DOC"""

from proxy.protocol.api import JOIN_GROUP
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, GroupId, MemberId, ThrottleTime, array, int32, string


class JoinGroupRequest(Request, api=JOIN_GROUP):
    """DOC"""

    class Protocol(Struct):
        """DOC"""

        name: string
        metadata: bytes

    group_id: GroupId
    session_timeout_ms: int32
    rebalance_timeout_ms: int32 = since(1, default=-1)
    member_id: MemberId
    group_instance_id: MemberId | None = since(5, default=None)
    protocol_type: string
    protocols: array[Protocol]
    reason: string | None = since(8, default=None)


class JoinGroupResponse(Response, api=JOIN_GROUP):
    """DOC"""

    class Member(Struct):
        """DOC"""

        member_id: MemberId
        group_instance_id: MemberId | None = since(5, default=None)
        metadata: bytes

    throttle_time_ms: ThrottleTime = since(2)
    error_code: Error
    generation_id: int32 = since(0, default=-1)
    protocol_type: string | None = since(7, default=None)
    protocol_name: string | None = since(0, nullable=7)
    leader: string
    skip_assignment: bool = since(9)
    member_id: MemberId
    members: array[Member]
