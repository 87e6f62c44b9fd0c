"""DeleteShareGroupState (key 86): DOC"""

from proxy.protocol.api import DELETE_SHARE_GROUP_STATE
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, GroupId, TopicId, array, int32


class DeleteShareGroupStateRequest(Request, api=DELETE_SHARE_GROUP_STATE):
    """DOC"""

    class DeleteStateData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            partition: int32

        topic_id: TopicId
        partitions: array[PartitionData]

    group_id: GroupId
    topics: array[DeleteStateData]


class DeleteShareGroupStateResponse(Response, api=DELETE_SHARE_GROUP_STATE):
    """DOC"""

    class DeleteStateResult(Struct):
        """DOC"""

        class PartitionResult(Struct):
            """DOC"""

            partition: int32
            error_code: Error
            error_message: ErrorMessage | None = since(0, default=None)

        topic_id: TopicId
        partitions: array[PartitionResult]

    results: array[DeleteStateResult]
