"""OffsetDelete (key 47): forget how far a group has read (KIP-496). Never flexible."""

from proxy.protocol.api import OFFSET_DELETE
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, GroupId, PartitionIndex, ThrottleTime, TopicName, array


class OffsetDeleteRequest(Request, api=OFFSET_DELETE):
    """Forget the group's offsets of these partitions."""

    class Topic(Struct):
        """A topic to forget."""

        class Partition(Struct):
            """A partition to forget."""

            partition_index: PartitionIndex

        name: TopicName
        partitions: array[Partition]

    group_id: GroupId
    topics: array[Topic]


class OffsetDeleteResponse(Response, api=OFFSET_DELETE):
    """Which offsets are forgotten."""

    class Topic(Struct):
        """A topic of the request."""

        class Partition(Struct):
            """Whether the offset of one partition is forgotten."""

            partition_index: PartitionIndex
            error_code: Error

        name: TopicName
        partitions: array[Partition] = field(mirrors="partitions")

    error_code: Error
    throttle_time_ms: ThrottleTime
    topics: array[Topic] = field(mirrors="topics")
