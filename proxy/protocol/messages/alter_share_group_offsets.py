"""AlterShareGroupOffsets (key 91): let an empty share group start elsewhere (KIP-932)."""

from proxy.protocol.api import ALTER_SHARE_GROUP_OFFSETS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import (
    Error,
    ErrorMessage,
    GroupId,
    PartitionIndex,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int64,
)


class AlterShareGroupOffsetsRequest(Request, api=ALTER_SHARE_GROUP_OFFSETS):
    """Where the group is to start."""

    class Topic(Struct):
        """A topic and its partitions."""

        class Partition(Struct):
            """One partition's new start."""

            partition_index: PartitionIndex
            start_offset: int64

        topic_name: TopicName
        partitions: array[Partition]

    group_id: GroupId
    topics: array[Topic]


class AlterShareGroupOffsetsResponse(Response, api=ALTER_SHARE_GROUP_OFFSETS):
    """What was changed."""

    class Topic(Struct):
        """A topic, as asked."""

        class Partition(Struct):
            """One partition's result."""

            partition_index: PartitionIndex
            error_code: Error
            error_message: ErrorMessage | None = field(default=None)

        topic_name: TopicName
        topic_id: TopicId
        partitions: array[Partition] = field(mirrors="partitions")

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = field(default=None)
    responses: array[Topic] = field(mirrors="topics")
