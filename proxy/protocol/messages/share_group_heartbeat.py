"""ShareGroupHeartbeat (key 76): join, stay in and leave a share group (KIP-932).

A member epoch of 0 joins, -1 leaves. Null stands for what has not changed since the last heartbeat.
"""

from proxy.protocol.api import SHARE_GROUP_HEARTBEAT
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import (
    Error,
    ErrorMessage,
    GroupId,
    MemberId,
    PartitionIndex,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int32,
    string,
)


class ShareGroupHeartbeatRequest(Request, api=SHARE_GROUP_HEARTBEAT):
    """A member's sign of life, and what changed for it."""

    group_id: GroupId
    member_id: MemberId  # made by the client itself
    member_epoch: int32
    rack_id: string | None = field(default=None)
    subscribed_topic_names: array[TopicName] | None = field(default=None)


class TopicPartitions(Struct):
    """A topic and partitions that the member is to have."""

    topic_id: TopicId
    partitions: array[PartitionIndex]


class ShareGroupHeartbeatResponse(Response, api=SHARE_GROUP_HEARTBEAT):
    """The member's epoch, and what it is to have."""

    class Assignment(Struct):
        """All partitions that the member is to have."""

        topic_partitions: array[TopicPartitions]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = field(default=None)
    member_id: MemberId | None = field(default=None)
    member_epoch: int32
    heartbeat_interval_ms: int32
    assignment: Assignment | None = field(default=None)  # null: unchanged
