"""OffsetCommit (key 8): how far a group has read.

v0 kept offsets in ZooKeeper, through any broker; all later versions go to the group's coordinator.
v5 dropped the retention time of each commit (KIP-211), v7 brought static members (KIP-345), v9 the epochs of the new
consumer groups (KIP-848), v10 topic ids instead of names.
"""

from proxy.protocol.api import OFFSET_COMMIT
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import (
    Error,
    GroupId,
    MemberId,
    PartitionIndex,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int32,
    int64,
    string,
)


class OffsetCommitRequest(Request, api=OFFSET_COMMIT):
    """Keep these offsets for the group."""

    class Topic(Struct):
        """A topic that the group reads."""

        class Partition(Struct):
            """A partition, and the offset to keep."""

            partition_index: PartitionIndex
            committed_offset: int64  # the next to read, not the last read
            committed_leader_epoch: int32 = since(6, default=-1)
            commit_timestamp: int64 = since(1, 1, default=-1)
            committed_metadata: string | None  # whatever the application notes beside it

        name: TopicName = until(9)
        topic_id: TopicId = since(10)
        partitions: array[Partition]

    group_id: GroupId
    generation_id_or_member_epoch: int32 = since(1, default=-1)  # -1: the client is no member
    member_id: MemberId = since(1)
    group_instance_id: MemberId | None = since(7, default=None)
    retention_time_ms: int64 = since(2, 4, default=-1)  # -1: as the broker is configured
    topics: array[Topic]


class OffsetCommitResponse(Response, api=OFFSET_COMMIT):
    """Which offsets are kept."""

    class Topic(Struct):
        """A topic of the request."""

        class Partition(Struct):
            """Whether the offset of one partition is kept."""

            partition_index: PartitionIndex
            error_code: Error

        name: TopicName = until(9)
        topic_id: TopicId = since(10)
        partitions: array[Partition] = field(mirrors="partitions")

    throttle_time_ms: ThrottleTime = since(3)
    topics: array[Topic] = field(mirrors="topics")
