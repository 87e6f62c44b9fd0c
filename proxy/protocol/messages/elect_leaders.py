"""ElectLeaders (key 43): have partitions led by their preferred replica, or by any that lives.

Once called ElectPreferredLeaders (KIP-183), which is all that v0 can do; v1 brought the unclean election (KIP-460).
In v0 a client without the right just gets nothing when it asks for all partitions.
"""

from proxy.protocol.api import ELECT_LEADERS
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import Error, ErrorMessage, PartitionIndex, ThrottleTime, TopicName, array, int8, int32


class ElectLeadersRequest(Request, api=ELECT_LEADERS):
    """Elect the leaders of these partitions."""

    class Topic(Struct):
        """A topic whose leaders to elect."""

        topic: TopicName
        partitions: array[PartitionIndex]

    election_type: int8 = since(1)  # 0: preferred, 1: unclean
    topic_partitions: array[Topic] | None  # null: all
    timeout_ms: int32 = field(default=60000)


class ElectLeadersResponse(Response, api=ELECT_LEADERS):
    """Which partitions have their leader; of all partitions, only those that were missing it."""

    class Topic(Struct):
        """A topic whose leaders were elected."""

        class Partition(Struct):
            """The result of one election."""

            partition_id: PartitionIndex
            error_code: Error
            error_message: ErrorMessage | None

        topic: TopicName
        partition_result: array[Partition] = field(mirrors="partitions")

    throttle_time_ms: ThrottleTime
    error_code: Error = since(1)
    replica_election_results: array[Topic] = field(mirrors="topic_partitions")
