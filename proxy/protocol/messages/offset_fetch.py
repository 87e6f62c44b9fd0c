"""OffsetFetch (key 9): how far groups have read.

v0 asked ZooKeeper, through any broker, and got an error if nothing was committed; later versions go to the group's
coordinator and get offset -1 then. v2 takes null for all topics (KIP-88), v7 waits for open transactions (KIP-447),
v8 asks for many groups at once in another shape (KIP-709), v10 for topic ids instead of names.
"""

from proxy.protocol.api import OFFSET_FETCH
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


class OffsetFetchRequest(Request, api=OFFSET_FETCH):
    """How far has the group read?"""

    class Topic(Struct):
        """A topic to tell about, up to v7."""

        name: TopicName
        partition_indexes: array[PartitionIndex]

    class Group(Struct):
        """A group to tell about, from v8 on."""

        class Topic(Struct):
            """A topic to tell about."""

            name: TopicName = until(9)
            topic_id: TopicId = since(10)
            partition_indexes: array[PartitionIndex]

        group_id: GroupId
        member_id: MemberId | None = since(9, default=None)
        member_epoch: int32 = since(9, default=-1)  # -1: the client is no member
        topics: array[Topic] | None  # null: all

    group_id: GroupId = until(7)
    topics: array[Topic] | None = until(7, nullable=2)  # null: all
    groups: array[Group] = since(8)
    require_stable: bool = since(7)  # fail rather than give an offset that an open transaction may still change


class OffsetFetchResponse(Response, api=OFFSET_FETCH):
    """The offsets that the group committed."""

    class Topic(Struct):
        """A topic of the request, up to v7."""

        class Partition(Struct):
            """The offset committed for one partition."""

            partition_index: PartitionIndex
            committed_offset: int64  # -1: none
            committed_leader_epoch: int32 = since(5, default=-1)
            metadata: string | None
            error_code: Error

        name: TopicName
        partitions: array[Partition] = field(mirrors="partition_indexes")

    class Group(Struct):
        """A group of the request, from v8 on."""

        class Topic(Struct):
            """A topic that the group reads."""

            class Partition(Struct):
                """The offset committed for one partition."""

                partition_index: PartitionIndex
                committed_offset: int64  # -1: none
                committed_leader_epoch: int32 = field(default=-1)
                metadata: string | None
                error_code: Error

            name: TopicName = until(9)
            topic_id: TopicId = since(10)
            partitions: array[Partition] = field(mirrors="partition_indexes")

        group_id: GroupId
        topics: array[Topic] = field(mirrors="topics")
        error_code: Error

    throttle_time_ms: ThrottleTime = since(3)
    topics: array[Topic] = until(7, mirrors="topics")
    error_code: Error = since(2, 7)
    groups: array[Group] = since(8, mirrors="groups")
