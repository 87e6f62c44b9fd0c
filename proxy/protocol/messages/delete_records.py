"""DeleteRecords (key 21): DOC"""

from proxy.protocol.api import DELETE_RECORDS
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import Error, ThrottleTime, TopicName, array, int32, int64


class DeleteRecordsRequest(Request, api=DELETE_RECORDS):
    """DOC"""

    class DeleteRecordsTopic(Struct):
        """DOC"""

        class DeleteRecordsPartition(Struct):
            """DOC"""

            partition_index: int32
            offset: int64

        name: TopicName
        partitions: array[DeleteRecordsPartition]

    topics: array[DeleteRecordsTopic]
    timeout_ms: int32


class DeleteRecordsResponse(Response, api=DELETE_RECORDS):
    """DOC"""

    class DeleteRecordsTopicResult(Struct):
        """DOC"""

        class DeleteRecordsPartitionResult(Struct):
            """DOC"""

            partition_index: int32
            low_watermark: int64
            error_code: Error

        name: TopicName
        partitions: array[DeleteRecordsPartitionResult]

    throttle_time_ms: ThrottleTime
    topics: array[DeleteRecordsTopicResult]
