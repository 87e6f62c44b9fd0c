"""ListPartitionReassignments (key 46): the partitions that are moving (KIP-455)."""

from proxy.protocol.api import LIST_PARTITION_REASSIGNMENTS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, PartitionIndex, ThrottleTime, TopicName, array, int32


class ListPartitionReassignmentsRequest(Request, api=LIST_PARTITION_REASSIGNMENTS):
    """Which of these partitions are moving?"""

    class Topic(Struct):
        """A topic to look at."""

        name: TopicName
        partition_indexes: array[PartitionIndex]

    timeout_ms: int32 = field(default=60000)
    topics: array[Topic] | None = field(default=None)  # null: all


class ListPartitionReassignmentsResponse(Response, api=LIST_PARTITION_REASSIGNMENTS):
    """The moves under way."""

    class Topic(Struct):
        """A topic with partitions that move."""

        class Partition(Struct):
            """A partition that moves."""

            partition_index: PartitionIndex
            replicas: array[BrokerId]  # the old ones and the new ones
            adding_replicas: array[BrokerId]
            removing_replicas: array[BrokerId]

        name: TopicName
        partitions: array[Partition] = field(mirrors="partition_indexes")

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
    topics: array[Topic] = field(mirrors="topics")
