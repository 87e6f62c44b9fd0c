"""CreatePartitions (key 37): DOC"""

from proxy.protocol.api import CREATE_PARTITIONS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, ThrottleTime, TopicName, array, int32


class CreatePartitionsRequest(Request, api=CREATE_PARTITIONS):
    """DOC"""

    class CreatePartitionsTopic(Struct):
        """DOC"""

        class CreatePartitionsAssignment(Struct):
            """DOC"""

            broker_ids: array[BrokerId]

        name: TopicName
        count: int32
        assignments: array[CreatePartitionsAssignment] | None

    topics: array[CreatePartitionsTopic]
    timeout_ms: int32
    validate_only: bool


class CreatePartitionsResponse(Response, api=CREATE_PARTITIONS):
    """DOC"""

    class CreatePartitionsTopicResult(Struct):
        """DOC"""

        name: TopicName
        error_code: Error
        error_message: ErrorMessage | None = since(0, default=None)

    throttle_time_ms: ThrottleTime
    results: array[CreatePartitionsTopicResult]
