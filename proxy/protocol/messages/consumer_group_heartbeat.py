"""ConsumerGroupHeartbeat (key 68): DOC"""

from proxy.protocol.api import CONSUMER_GROUP_HEARTBEAT
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import (
    Error,
    ErrorMessage,
    GroupId,
    MemberId,
    ThrottleTime,
    TopicId,
    TopicName,
    TopicRegex,
    array,
    int32,
    string,
)


class ConsumerGroupHeartbeatRequest(Request, api=CONSUMER_GROUP_HEARTBEAT):
    """DOC"""

    class TopicPartitions(Struct):
        """DOC"""

        topic_id: TopicId
        partitions: array[int32]

    group_id: GroupId
    member_id: MemberId
    member_epoch: int32
    instance_id: MemberId | None = since(0, default=None)
    rack_id: string | None = since(0, default=None)
    rebalance_timeout_ms: int32 = since(0, default=-1)
    subscribed_topic_names: array[TopicName] | None = since(0, default=None)
    subscribed_topic_regex: TopicRegex | None = since(1, default=None)
    server_assignor: string | None = since(0, default=None)
    topic_partitions: array[TopicPartitions] | None = since(0, default=None)


class TopicPartitions(Struct):
    """DOC"""

    topic_id: TopicId
    partitions: array[int32]


class ConsumerGroupHeartbeatResponse(Response, api=CONSUMER_GROUP_HEARTBEAT):
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
