"""OffsetCommit (key 8): DOC"""

from proxy.protocol.api import OFFSET_COMMIT
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import Error, GroupId, MemberId, ThrottleTime, TopicId, TopicName, array, int32, int64, string


class OffsetCommitRequest(Request, api=OFFSET_COMMIT):
    """DOC"""

    class Topic(Struct):
        """DOC"""

        class Partition(Struct):
            """DOC"""

            partition_index: int32
            committed_offset: int64
            committed_leader_epoch: int32 = since(6, default=-1)
            commit_timestamp: int64 = since(1, 1, default=-1)
            committed_metadata: string | None

        name: TopicName = until(9)
        topic_id: TopicId = since(10)
        partitions: array[Partition]

    group_id: GroupId
    generation_id_or_member_epoch: int32 = since(1, default=-1)
    member_id: MemberId = since(1)
    group_instance_id: MemberId | None = since(7, default=None)
    retention_time_ms: int64 = since(2, 4, default=-1)
    topics: array[Topic]


class OffsetCommitResponse(Response, api=OFFSET_COMMIT):
    """DOC"""

    class Topic(Struct):
        """DOC"""

        class Partition(Struct):
            """DOC"""

            partition_index: int32
            error_code: Error

        name: TopicName = until(9)
        topic_id: TopicId = since(10)
        partitions: array[Partition]

    throttle_time_ms: ThrottleTime = since(3)
    topics: array[Topic]
