"""SyncGroup (key 14): the leader of a classic group says who does what, and every member hears its part."""

from proxy.protocol.api import SYNC_GROUP
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, GroupId, MemberId, ThrottleTime, array, int32, string


class SyncGroupRequest(Request, api=SYNC_GROUP):
    """What is my part? From the leader also: this is everybody's."""

    class Assignment(Struct):
        """The part of one member."""

        member_id: MemberId
        assignment: bytes  # of consumers the topics and partitions to read

    group_id: GroupId
    generation_id: int32
    member_id: MemberId
    group_instance_id: MemberId | None = since(3, default=None)
    protocol_type: string | None = since(5, default=None)
    protocol_name: string | None = since(5, default=None)
    assignments: array[Assignment]  # empty but from the leader


class SyncGroupResponse(Response, api=SYNC_GROUP):
    """This is your part."""

    throttle_time_ms: ThrottleTime = since(1)
    error_code: Error
    protocol_type: string | None = since(5, default=None)
    protocol_name: string | None = since(5, default=None)
    assignment: bytes
