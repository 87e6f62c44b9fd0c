"""DescribeShareGroupOffsets (key 90): DOC"""

from proxy.protocol.api import DESCRIBE_SHARE_GROUP_OFFSETS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, GroupId, ThrottleTime, TopicId, TopicName, array, int32, int64


class DescribeShareGroupOffsetsRequest(Request, api=DESCRIBE_SHARE_GROUP_OFFSETS):
    """DOC"""

    class Group(Struct):
        """DOC"""

        class Topic(Struct):
            """DOC"""

            topic_name: TopicName
            partitions: array[int32]

        group_id: GroupId
        topics: array[Topic] | None

    groups: array[Group]


class DescribeShareGroupOffsetsResponse(Response, api=DESCRIBE_SHARE_GROUP_OFFSETS):
    """DOC"""

    class Group(Struct):
        """DOC"""

        class Topic(Struct):
            """DOC"""

            class Partition(Struct):
                """DOC"""

                partition_index: int32
                start_offset: int64
                leader_epoch: int32
                lag: int64 = since(1, default=-1)
                error_code: Error
                error_message: ErrorMessage | None = since(0, default=None)

            topic_name: TopicName
            topic_id: TopicId
            partitions: array[Partition]

        group_id: GroupId
        topics: array[Topic]
        error_code: Error
        error_message: ErrorMessage | None = since(0, default=None)

    throttle_time_ms: ThrottleTime
    groups: array[Group]
