"""ReadShareGroupStateSummary (key 87): DOC"""

from proxy.protocol.api import READ_SHARE_GROUP_STATE_SUMMARY
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, GroupId, TopicId, array, int32, int64


class ReadShareGroupStateSummaryRequest(Request, api=READ_SHARE_GROUP_STATE_SUMMARY):
    """DOC"""

    class ReadStateSummaryData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            partition: int32
            leader_epoch: int32

        topic_id: TopicId
        partitions: array[PartitionData]

    group_id: GroupId
    topics: array[ReadStateSummaryData]


class ReadShareGroupStateSummaryResponse(Response, api=READ_SHARE_GROUP_STATE_SUMMARY):
    """DOC"""

    class ReadStateSummaryResult(Struct):
        """DOC"""

        class PartitionResult(Struct):
            """DOC"""

            partition: int32
            error_code: Error
            error_message: ErrorMessage | None = since(0, default=None)
            state_epoch: int32
            leader_epoch: int32
            start_offset: int64
            delivery_complete_count: int32 = since(1, default=-1)

        topic_id: TopicId
        partitions: array[PartitionResult]

    results: array[ReadStateSummaryResult]
