"""ShareGroupHeartbeat (key 76): DOC"""

from proxy.protocol.api import SHARE_GROUP_HEARTBEAT
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import (
    Error,
    ErrorMessage,
    GroupId,
    MemberId,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int32,
    string,
)


class ShareGroupHeartbeatRequest(Request, api=SHARE_GROUP_HEARTBEAT):
    """DOC"""

    group_id: GroupId
    member_id: MemberId
    member_epoch: int32
    rack_id: string | None = since(0, default=None)
    subscribed_topic_names: array[TopicName] | None = since(0, default=None)


class TopicPartitions(Struct):
    """DOC"""

    topic_id: TopicId
    partitions: array[int32]


class ShareGroupHeartbeatResponse(Response, api=SHARE_GROUP_HEARTBEAT):
    """DOC"""

    class Assignment(Struct):
        """DOC"""

        topic_partitions: array[TopicPartitions]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = since(0, default=None)
    member_id: MemberId | None = since(0, default=None)
    member_epoch: int32
    heartbeat_interval_ms: int32
    assignment: Assignment | None = since(0, default=None)
