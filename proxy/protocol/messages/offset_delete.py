"""OffsetDelete (key 47): DOC"""

from proxy.protocol.api import OFFSET_DELETE
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import Error, GroupId, ThrottleTime, TopicName, array, int32


class OffsetDeleteRequest(Request, api=OFFSET_DELETE):
    """DOC"""

    class Topic(Struct):
        """DOC"""

        class Partition(Struct):
            """DOC"""

            partition_index: int32

        name: TopicName
        partitions: array[Partition]

    group_id: GroupId
    topics: array[Topic]


class OffsetDeleteResponse(Response, api=OFFSET_DELETE):
    """DOC"""

    class Topic(Struct):
        """DOC"""

        class Partition(Struct):
            """DOC"""

            partition_index: int32
            error_code: Error

        name: TopicName
        partitions: array[Partition]

    error_code: Error
    throttle_time_ms: ThrottleTime
    topics: array[Topic]
