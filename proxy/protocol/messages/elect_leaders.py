"""ElectLeaders (key 43): DOC"""

from proxy.protocol.api import ELECT_LEADERS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, ThrottleTime, TopicName, array, int8, int32


class ElectLeadersRequest(Request, api=ELECT_LEADERS):
    """DOC"""

    class TopicPartitions(Struct):
        """DOC"""

        topic: TopicName
        partitions: array[int32]

    election_type: int8 = since(1)
    topic_partitions: array[TopicPartitions] | None
    timeout_ms: int32 = since(0, default=60000)


class ElectLeadersResponse(Response, api=ELECT_LEADERS):
    """DOC"""

    class ReplicaElectionResult(Struct):
        """DOC"""

        class PartitionResult(Struct):
            """DOC"""

            partition_id: int32
            error_code: Error
            error_message: ErrorMessage | None

        topic: TopicName
        partition_result: array[PartitionResult]

    throttle_time_ms: ThrottleTime
    error_code: Error = since(1)
    replica_election_results: array[ReplicaElectionResult]
