"""DescribeTopicPartitions (key 75): topics and their partitions, a page at a time (KIP-966).

Topics come in the order of their names. A cursor names the partition with which the next page starts.
"""

from proxy.protocol.api import DESCRIBE_TOPIC_PARTITIONS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import (
    AuthorizedOperations,
    BrokerId,
    Error,
    PartitionIndex,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int32,
)


class DescribeTopicPartitionsRequest(Request, api=DESCRIBE_TOPIC_PARTITIONS):
    """The topics to tell of, and where to go on."""

    class Topic(Struct):
        """One topic."""

        name: TopicName

    class Cursor(Struct):
        """The first partition to describe."""

        topic_name: TopicName
        partition_index: PartitionIndex

    topics: array[Topic]  # none: all
    response_partition_limit: int32 = field(default=2000)
    cursor: Cursor | None = field(default=None)


class DescribeTopicPartitionsResponse(Response, api=DESCRIBE_TOPIC_PARTITIONS):
    """One page of topics."""

    class Topic(Struct):
        """One topic."""

        class Partition(Struct):
            """One partition and its replicas."""

            error_code: Error
            partition_index: PartitionIndex
            leader_id: BrokerId  # -1: none
            leader_epoch: int32 = field(default=-1)
            replica_nodes: array[BrokerId]
            isr_nodes: array[BrokerId]
            # Not in sync, but without loss of data if one became the leader.
            eligible_leader_replicas: array[BrokerId] | None = field(default=None)
            # The replicas that were in sync last, if none is eligible now.
            last_known_elr: array[BrokerId] | None = field(default=None)
            offline_replicas: array[BrokerId]

        error_code: Error
        name: TopicName | None
        topic_id: TopicId
        is_internal: bool
        partitions: array[Partition]
        topic_authorized_operations: AuthorizedOperations = field(default=-(2**31))  # the default: not asked for

    class Cursor(Struct):
        """The first partition that did not fit in."""

        topic_name: TopicName
        partition_index: PartitionIndex

    throttle_time_ms: ThrottleTime
    topics: array[Topic] = field(mirrors="topics")
    next_cursor: Cursor | None = field(default=None)  # null: that was all
