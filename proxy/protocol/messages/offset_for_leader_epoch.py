"""OffsetForLeaderEpoch (key 23): DOC"""

from proxy.protocol.api import OFFSET_FOR_LEADER_EPOCH
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ReplicaId, ThrottleTime, TopicName, array, int32, int64


class OffsetForLeaderEpochRequest(Request, api=OFFSET_FOR_LEADER_EPOCH):
    """DOC"""

    class OffsetForLeaderTopic(Struct):
        """DOC"""

        class OffsetForLeaderPartition(Struct):
            """DOC"""

            partition: int32
            current_leader_epoch: int32 = since(2, default=-1)
            leader_epoch: int32

        topic: TopicName
        partitions: array[OffsetForLeaderPartition]

    replica_id: ReplicaId = since(3, default=-2)
    topics: array[OffsetForLeaderTopic]


class OffsetForLeaderEpochResponse(Response, api=OFFSET_FOR_LEADER_EPOCH):
    """DOC"""

    class OffsetForLeaderTopicResult(Struct):
        """DOC"""

        class EpochEndOffset(Struct):
            """DOC"""

            error_code: Error
            partition: int32
            leader_epoch: int32 = since(1, default=-1)
            end_offset: int64 = since(0, default=-1)

        topic: TopicName
        partitions: array[EpochEndOffset]

    throttle_time_ms: ThrottleTime = since(2)
    topics: array[OffsetForLeaderTopicResult]
