"""ListOffsets (key 2): DOC"""

from proxy.protocol.api import LIST_OFFSETS
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import Error, ReplicaId, ThrottleTime, TopicName, array, int8, int32, int64


class ListOffsetsRequest(Request, api=LIST_OFFSETS):
    """DOC"""

    class ListOffsetsTopic(Struct):
        """DOC"""

        class ListOffsetsPartition(Struct):
            """DOC"""

            partition_index: int32
            current_leader_epoch: int32 = since(4, default=-1)
            timestamp: int64
            max_num_offsets: int32 = until(0, default=1)

        name: TopicName
        partitions: array[ListOffsetsPartition]

    replica_id: ReplicaId
    isolation_level: int8 = since(2)
    topics: array[ListOffsetsTopic]
    timeout_ms: int32 = since(10)


class ListOffsetsResponse(Response, api=LIST_OFFSETS):
    """DOC"""

    class ListOffsetsTopicResponse(Struct):
        """DOC"""

        class ListOffsetsPartitionResponse(Struct):
            """DOC"""

            partition_index: int32
            error_code: Error
            timestamp: int64 = since(1, default=-1)
            offset: int64 = since(1, default=-1)
            leader_epoch: int32 = since(4, default=-1)
            old_style_offsets: array[int64] = until(0)

        name: TopicName
        partitions: array[ListOffsetsPartitionResponse]

    throttle_time_ms: ThrottleTime = since(2)
    topics: array[ListOffsetsTopicResponse]
