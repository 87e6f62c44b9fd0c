"""OffsetFetch (key 9): DOC"""

from proxy.protocol.api import OFFSET_FETCH
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import Error, GroupId, MemberId, ThrottleTime, TopicId, TopicName, array, int32, int64, string


class OffsetFetchRequest(Request, api=OFFSET_FETCH):
    """DOC"""

    class Topic(Struct):
        """DOC"""

        name: TopicName
        partition_indexes: array[int32]

    class Group(Struct):
        """DOC"""

        class Topics(Struct):
            """DOC"""

            name: TopicName = until(9)
            topic_id: TopicId = since(10)
            partition_indexes: array[int32]

        group_id: GroupId
        member_id: MemberId | None = since(9, default=None)
        member_epoch: int32 = since(9, default=-1)
        topics: array[Topics] | None

    group_id: GroupId = until(7)
    topics: array[Topic] | None = until(7, nullable=2)
    groups: array[Group] = since(8)
    require_stable: bool = since(7)


class OffsetFetchResponse(Response, api=OFFSET_FETCH):
    """DOC"""

    class Topic(Struct):
        """DOC"""

        class Partition(Struct):
            """DOC"""

            partition_index: int32
            committed_offset: int64
            committed_leader_epoch: int32 = since(5, default=-1)
            metadata: string | None
            error_code: Error

        name: TopicName
        partitions: array[Partition]

    class Group(Struct):
        """DOC"""

        class Topics(Struct):
            """DOC"""

            class Partitions(Struct):
                """DOC"""

                partition_index: int32
                committed_offset: int64
                committed_leader_epoch: int32 = since(0, default=-1)
                metadata: string | None
                error_code: Error

            name: TopicName = until(9)
            topic_id: TopicId = since(10)
            partitions: array[Partitions]

        group_id: GroupId
        topics: array[Topics]
        error_code: Error

    throttle_time_ms: ThrottleTime = since(3)
    topics: array[Topic] = until(7)
    error_code: Error = since(2, 7)
    groups: array[Group] = since(8)
