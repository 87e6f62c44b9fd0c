"""AlterShareGroupOffsets (key 91): DOC"""

from proxy.protocol.api import ALTER_SHARE_GROUP_OFFSETS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, GroupId, ThrottleTime, TopicId, TopicName, array, int32, int64


class AlterShareGroupOffsetsRequest(Request, api=ALTER_SHARE_GROUP_OFFSETS):
    """DOC"""

    class Topic(Struct):
        """DOC"""

        class Partition(Struct):
            """DOC"""

            partition_index: int32
            start_offset: int64

        topic_name: TopicName
        partitions: array[Partition]

    group_id: GroupId
    topics: array[Topic]


class AlterShareGroupOffsetsResponse(Response, api=ALTER_SHARE_GROUP_OFFSETS):
    """DOC"""

    class Topic(Struct):
        """DOC"""

        class Partition(Struct):
            """DOC"""

            partition_index: int32
            error_code: Error
            error_message: ErrorMessage | None = since(0, default=None)

        topic_name: TopicName
        topic_id: TopicId
        partitions: array[Partition]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = since(0, default=None)
    responses: array[Topic]
