"""DeleteTopics (key 20): topics to delete.

v5 may be throttled topic by topic (KIP-599), v6 takes ids as well as names (KIP-516).
Below v3 a broker that deletes no topics answers INVALID_REQUEST instead of TOPIC_DELETION_DISABLED.
"""

from proxy.protocol.api import DELETE_TOPICS
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import Error, ErrorMessage, ThrottleTime, TopicId, TopicName, array, int32


class DeleteTopicsRequest(Request, api=DELETE_TOPICS):
    """Delete these topics."""

    class Topic(Struct):
        """A topic by name or by id, never by both."""

        name: TopicName | None = field(default=None)
        topic_id: TopicId

    topics: array[Topic] = since(6)
    topic_names: array[TopicName] = until(5)
    timeout_ms: int32


class DeleteTopicsResponse(Response, api=DELETE_TOPICS):
    """Which topics are deleted."""

    class Topic(Struct):
        """The result for one topic."""

        name: TopicName | None = field(nullable=6)  # null: no such id, or the client may not know its name
        topic_id: TopicId = since(6)
        error_code: Error
        error_message: ErrorMessage | None = since(5, default=None)

    throttle_time_ms: ThrottleTime = since(1)
    responses: array[Topic] = field(mirrors=("topics", "topic_names"))
