"""DeleteRecords (key 21): forget the records of partitions before some offset (KIP-107)."""

from proxy.protocol.api import DELETE_RECORDS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, PartitionIndex, ThrottleTime, TopicName, array, int32, int64


class DeleteRecordsRequest(Request, api=DELETE_RECORDS):
    """Delete what lies before these offsets."""

    class Topic(Struct):
        """A topic to delete from."""

        class Partition(Struct):
            """A partition, and the first offset to keep."""

            partition_index: PartitionIndex
            offset: int64  # -1: the high watermark, so all

        name: TopicName
        partitions: array[Partition]

    topics: array[Topic]
    timeout_ms: int32


class DeleteRecordsResponse(Response, api=DELETE_RECORDS):
    """Where the logs begin now."""

    class Topic(Struct):
        """A topic of the request."""

        class Partition(Struct):
            """Where the log of one partition begins now."""

            partition_index: PartitionIndex
            low_watermark: int64  # the lowest log start of its replicas; -1 with an error
            error_code: Error

        name: TopicName
        partitions: array[Partition] = field(mirrors="partitions")

    throttle_time_ms: ThrottleTime
    topics: array[Topic] = field(mirrors="topics")
