"""AlterPartitionReassignments (key 45): DOC"""

from proxy.protocol.api import ALTER_PARTITION_REASSIGNMENTS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, ThrottleTime, TopicName, array, int32


class AlterPartitionReassignmentsRequest(Request, api=ALTER_PARTITION_REASSIGNMENTS):
    """DOC"""

    class ReassignableTopic(Struct):
        """DOC"""

        class ReassignablePartition(Struct):
            """DOC"""

            partition_index: int32
            replicas: array[BrokerId] | None = since(0, default=None)

        name: TopicName
        partitions: array[ReassignablePartition]

    timeout_ms: int32 = since(0, default=60000)
    allow_replication_factor_change: bool = since(1, default=True)
    topics: array[ReassignableTopic]


class AlterPartitionReassignmentsResponse(Response, api=ALTER_PARTITION_REASSIGNMENTS):
    """DOC"""

    class ReassignableTopicResponse(Struct):
        """DOC"""

        class ReassignablePartitionResponse(Struct):
            """DOC"""

            partition_index: int32
            error_code: Error
            error_message: ErrorMessage | None

        name: TopicName
        partitions: array[ReassignablePartitionResponse]

    throttle_time_ms: ThrottleTime
    allow_replication_factor_change: bool = since(1, default=True)
    error_code: Error
    error_message: ErrorMessage | None
    responses: array[ReassignableTopicResponse]
