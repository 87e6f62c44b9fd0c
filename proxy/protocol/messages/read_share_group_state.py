"""ReadShareGroupState (key 84): DOC"""

from proxy.protocol.api import READ_SHARE_GROUP_STATE
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, GroupId, TopicId, array, int8, int16, int32, int64


class ReadShareGroupStateRequest(Request, api=READ_SHARE_GROUP_STATE):
    """DOC"""

    class ReadStateData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            partition: int32
            leader_epoch: int32

        topic_id: TopicId
        partitions: array[PartitionData]

    group_id: GroupId
    topics: array[ReadStateData]


class ReadShareGroupStateResponse(Response, api=READ_SHARE_GROUP_STATE):
    """DOC"""

    class ReadStateResult(Struct):
        """DOC"""

        class PartitionResult(Struct):
            """DOC"""

            class StateBatch(Struct):
                """DOC"""

                first_offset: int64
                last_offset: int64
                delivery_state: int8
                delivery_count: int16

            partition: int32
            error_code: Error
            error_message: ErrorMessage | None = since(0, default=None)
            state_epoch: int32
            start_offset: int64
            state_batches: array[StateBatch]

        topic_id: TopicId
        partitions: array[PartitionResult]

    results: array[ReadStateResult]
