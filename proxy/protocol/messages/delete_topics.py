"""DeleteTopics (key 20): DOC"""

from proxy.protocol.api import DELETE_TOPICS
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import Error, ErrorMessage, ThrottleTime, TopicId, TopicName, array, int32


class DeleteTopicsRequest(Request, api=DELETE_TOPICS):
    """DOC"""

    class DeleteTopicState(Struct):
        """DOC"""

        name: TopicName | None = since(0, default=None)
        topic_id: TopicId

    topics: array[DeleteTopicState] = since(6)
    topic_names: array[TopicName] = until(5)
    timeout_ms: int32


class DeleteTopicsResponse(Response, api=DELETE_TOPICS):
    """DOC"""

    class DeletableTopicResult(Struct):
        """DOC"""

        name: TopicName | None = since(0, nullable=6)
        topic_id: TopicId = since(6)
        error_code: Error
        error_message: ErrorMessage | None = since(5, default=None)

    throttle_time_ms: ThrottleTime = since(1)
    responses: array[DeletableTopicResult]
