"""DescribeShareGroupOffsets (key 90): where share groups start to read (KIP-932)."""

from proxy.protocol.api import DESCRIBE_SHARE_GROUP_OFFSETS
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import (
    Error,
    ErrorMessage,
    GroupId,
    PartitionIndex,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int32,
    int64,
)


class DescribeShareGroupOffsetsRequest(Request, api=DESCRIBE_SHARE_GROUP_OFFSETS):
    """The groups and partitions to describe."""

    class Group(Struct):
        """One group."""

        class Topic(Struct):
            """A topic and its partitions."""

            topic_name: TopicName
            partitions: array[PartitionIndex]

        group_id: GroupId
        topics: array[Topic] | None  # null: all that the group reads

    groups: array[Group]


class DescribeShareGroupOffsetsResponse(Response, api=DESCRIBE_SHARE_GROUP_OFFSETS):
    """The groups' offsets."""

    class Group(Struct):
        """One group."""

        class Topic(Struct):
            """A topic, as asked."""

            class Partition(Struct):
                """One partition's start."""

                partition_index: PartitionIndex
                start_offset: int64  # -1: not yet known
                leader_epoch: int32
                lag: int64 = since(1, default=-1)  # records still to be read, -1: not known (KIP-1226)
                error_code: Error
                error_message: ErrorMessage | None = field(default=None)

            topic_name: TopicName
            topic_id: TopicId
            partitions: array[Partition] = field(mirrors="partitions")

        group_id: GroupId
        topics: array[Topic] = field(mirrors="topics")
        error_code: Error
        error_message: ErrorMessage | None = field(default=None)

    throttle_time_ms: ThrottleTime
    groups: array[Group] = field(mirrors="groups")
