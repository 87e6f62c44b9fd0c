"""ConsumerGroupHeartbeat (key 68): join, stay in and leave a consumer group (KIP-848).

The coordinator assigns the partitions. A member epoch of 0 joins, -1 leaves, -2 leaves for a while (static
members). Null stands for what has not changed since the last heartbeat. The preview in 3.6 had another layout,
also v0.
"""

from proxy.protocol.api import CONSUMER_GROUP_HEARTBEAT
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import (
    Error,
    ErrorMessage,
    GroupId,
    MemberId,
    PartitionIndex,
    ThrottleTime,
    TopicId,
    TopicName,
    TopicRegex,
    array,
    int32,
    string,
)


class ConsumerGroupHeartbeatRequest(Request, api=CONSUMER_GROUP_HEARTBEAT):
    """A member's sign of life, and what changed for it."""

    class TopicPartitions(Struct):
        """A topic and partitions that the member has."""

        topic_id: TopicId
        partitions: array[PartitionIndex]

    group_id: GroupId
    member_id: MemberId  # from v1 on made by the client itself (KIP-1082)
    member_epoch: int32
    instance_id: MemberId | None = field(default=None)  # of a static member (KIP-345)
    rack_id: string | None = field(default=None)
    rebalance_timeout_ms: int32 = field(default=-1)  # -1: unchanged
    subscribed_topic_names: array[TopicName] | None = field(default=None)
    subscribed_topic_regex: TopicRegex | None = since(1, default=None)  # RE2J, which the coordinator evaluates
    server_assignor: string | None = field(default=None)
    # What the member still has, when it joins or that changed.
    topic_partitions: array[TopicPartitions] | None = field(default=None)


class TopicPartitions(Struct):
    """A topic and partitions that the member is to have."""

    topic_id: TopicId
    partitions: array[PartitionIndex]


class ConsumerGroupHeartbeatResponse(Response, api=CONSUMER_GROUP_HEARTBEAT):
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
