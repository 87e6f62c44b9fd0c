"""DescribeTopicPartitions (key 75): DOC"""

from proxy.protocol.api import DESCRIBE_TOPIC_PARTITIONS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import AuthorizedOperations, BrokerId, Error, ThrottleTime, TopicId, TopicName, array, int32


class DescribeTopicPartitionsRequest(Request, api=DESCRIBE_TOPIC_PARTITIONS):
    """DOC"""

    class TopicRequest(Struct):
        """DOC"""

        name: TopicName

    class Cursor(Struct):
        """DOC"""

        topic_name: TopicName
        partition_index: int32

    topics: array[TopicRequest]
    response_partition_limit: int32 = since(0, default=2000)
    cursor: Cursor | None = since(0, default=None)


class DescribeTopicPartitionsResponse(Response, api=DESCRIBE_TOPIC_PARTITIONS):
    """DOC"""

    class Topic(Struct):
        """DOC"""

        class Partition(Struct):
            """DOC"""

            error_code: Error
            partition_index: int32
            leader_id: BrokerId
            leader_epoch: int32 = since(0, default=-1)
            replica_nodes: array[BrokerId]
            isr_nodes: array[BrokerId]
            eligible_leader_replicas: array[BrokerId] | None = since(0, default=None)
            last_known_elr: array[BrokerId] | None = since(0, default=None)
            offline_replicas: array[BrokerId]

        error_code: Error
        name: TopicName | None
        topic_id: TopicId
        is_internal: bool
        partitions: array[Partition]
        topic_authorized_operations: AuthorizedOperations = since(0, default=-2147483648)

    class Cursor(Struct):
        """DOC"""

        topic_name: TopicName
        partition_index: int32

    throttle_time_ms: ThrottleTime
    topics: array[Topic]
    next_cursor: Cursor | None = since(0, default=None)
