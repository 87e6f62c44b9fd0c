"""ListPartitionReassignments (key 46): DOC"""

from proxy.protocol.api import LIST_PARTITION_REASSIGNMENTS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, ThrottleTime, TopicName, array, int32


class ListPartitionReassignmentsRequest(Request, api=LIST_PARTITION_REASSIGNMENTS):
    """DOC"""

    class ListPartitionReassignmentsTopics(Struct):
        """DOC"""

        name: TopicName
        partition_indexes: array[int32]

    timeout_ms: int32 = since(0, default=60000)
    topics: array[ListPartitionReassignmentsTopics] | None = since(0, default=None)


class ListPartitionReassignmentsResponse(Response, api=LIST_PARTITION_REASSIGNMENTS):
    """DOC"""

    class OngoingTopicReassignment(Struct):
        """DOC"""

        class OngoingPartitionReassignment(Struct):
            """DOC"""

            partition_index: int32
            replicas: array[BrokerId]
            adding_replicas: array[BrokerId]
            removing_replicas: array[BrokerId]

        name: TopicName
        partitions: array[OngoingPartitionReassignment]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
    topics: array[OngoingTopicReassignment]
