"""DeleteShareGroupOffsets (key 92): forget what an empty share group has read of some topics (KIP-932)."""

from proxy.protocol.api import DELETE_SHARE_GROUP_OFFSETS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, ErrorMessage, GroupId, ThrottleTime, TopicId, TopicName, array


class DeleteShareGroupOffsetsRequest(Request, api=DELETE_SHARE_GROUP_OFFSETS):
    """The topics to forget."""

    class Topic(Struct):
        """One topic."""

        topic_name: TopicName

    group_id: GroupId
    topics: array[Topic]


class DeleteShareGroupOffsetsResponse(Response, api=DELETE_SHARE_GROUP_OFFSETS):
    """What was forgotten."""

    class Topic(Struct):
        """One topic's result."""

        topic_name: TopicName
        topic_id: TopicId
        error_code: Error
        error_message: ErrorMessage | None = field(default=None)

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = field(default=None)
    responses: array[Topic] = field(mirrors="topics")
