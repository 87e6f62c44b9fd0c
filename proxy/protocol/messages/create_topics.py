"""CreateTopics (key 19): DOC"""

from proxy.protocol.api import CREATE_TOPICS
from proxy.protocol.schema import Request, Response, Struct, since, tagged
from proxy.protocol.wire import (
    BrokerId,
    Error,
    ErrorMessage,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int8,
    int16,
    int32,
    string,
)


class CreateTopicsRequest(Request, api=CREATE_TOPICS):
    """DOC"""

    class CreatableTopic(Struct):
        """DOC"""

        class CreatableReplicaAssignment(Struct):
            """DOC"""

            partition_index: int32
            broker_ids: array[BrokerId]

        class CreatableTopicConfig(Struct):
            """DOC"""

            name: string
            value: string | None

        name: TopicName
        num_partitions: int32
        replication_factor: int16
        assignments: array[CreatableReplicaAssignment]
        configs: array[CreatableTopicConfig]

    topics: array[CreatableTopic]
    timeout_ms: int32 = since(0, default=60000)
    validate_only: bool = since(1)


class CreateTopicsResponse(Response, api=CREATE_TOPICS):
    """DOC"""

    class CreatableTopicResult(Struct):
        """DOC"""

        class CreatableTopicConfigs(Struct):
            """DOC"""

            name: string
            value: string | None
            read_only: bool
            config_source: int8 = since(0, default=-1)
            is_sensitive: bool

        name: TopicName
        topic_id: TopicId = since(7)
        error_code: Error
        error_message: ErrorMessage | None = since(1)
        topic_config_error_code: Error = tagged(0, 5)
        num_partitions: int32 = since(5, default=-1)
        replication_factor: int16 = since(5, default=-1)
        configs: array[CreatableTopicConfigs] | None = since(5)

    throttle_time_ms: ThrottleTime = since(2)
    topics: array[CreatableTopicResult]
