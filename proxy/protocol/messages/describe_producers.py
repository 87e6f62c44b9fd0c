"""DescribeProducers (key 61): DOC"""

from proxy.protocol.api import DESCRIBE_PRODUCERS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, ProducerId, ThrottleTime, TopicName, array, int32, int64


class DescribeProducersRequest(Request, api=DESCRIBE_PRODUCERS):
    """DOC"""

    class TopicRequest(Struct):
        """DOC"""

        name: TopicName
        partition_indexes: array[int32]

    topics: array[TopicRequest]


class DescribeProducersResponse(Response, api=DESCRIBE_PRODUCERS):
    """DOC"""

    class TopicResponse(Struct):
        """DOC"""

        class PartitionResponse(Struct):
            """DOC"""

            class ProducerState(Struct):
                """DOC"""

                producer_id: ProducerId
                producer_epoch: int32
                last_sequence: int32 = since(0, default=-1)
                last_timestamp: int64 = since(0, default=-1)
                coordinator_epoch: int32
                current_txn_start_offset: int64 = since(0, default=-1)

            partition_index: int32
            error_code: Error
            error_message: ErrorMessage | None = since(0, default=None)
            active_producers: array[ProducerState]

        name: TopicName
        partitions: array[PartitionResponse]

    throttle_time_ms: ThrottleTime
    topics: array[TopicResponse]
