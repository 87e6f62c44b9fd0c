"""AlterPartitionReassignments (key 45): move partitions to other brokers, or stop moving them (KIP-455).

v1 can forbid that a move changes the number of replicas (KIP-860).
"""

from proxy.protocol.api import ALTER_PARTITION_REASSIGNMENTS
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, PartitionIndex, ThrottleTime, TopicName, array, int32


class AlterPartitionReassignmentsRequest(Request, api=ALTER_PARTITION_REASSIGNMENTS):
    """Move these partitions."""

    class Topic(Struct):
        """A topic whose partitions move."""

        class Partition(Struct):
            """A partition, and the brokers that shall replicate it."""

            partition_index: PartitionIndex
            replicas: array[BrokerId] | None = field(default=None)  # null: cancel the move under way

        name: TopicName
        partitions: array[Partition]

    timeout_ms: int32 = field(default=60000)
    allow_replication_factor_change: bool = since(1, default=True)
    topics: array[Topic]


class AlterPartitionReassignmentsResponse(Response, api=ALTER_PARTITION_REASSIGNMENTS):
    """Which moves have begun."""

    class Topic(Struct):
        """A topic of the request."""

        class Partition(Struct):
            """Whether the move of one partition has begun, or ended."""

            partition_index: PartitionIndex
            error_code: Error
            error_message: ErrorMessage | None

        name: TopicName
        partitions: array[Partition] = field(mirrors="partitions")

    throttle_time_ms: ThrottleTime
    allow_replication_factor_change: bool = since(1, default=True)
    error_code: Error
    error_message: ErrorMessage | None
    responses: array[Topic] = field(mirrors="topics")
