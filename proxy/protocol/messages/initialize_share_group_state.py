"""InitializeShareGroupState (key 83): DOC"""

from proxy.protocol.api import INITIALIZE_SHARE_GROUP_STATE
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, GroupId, TopicId, array, int32, int64


class InitializeShareGroupStateRequest(Request, api=INITIALIZE_SHARE_GROUP_STATE):
    """DOC"""

    class InitializeStateData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            partition: int32
            state_epoch: int32
            start_offset: int64

        topic_id: TopicId
        partitions: array[PartitionData]

    group_id: GroupId
    topics: array[InitializeStateData]


class InitializeShareGroupStateResponse(Response, api=INITIALIZE_SHARE_GROUP_STATE):
    """DOC"""

    class InitializeStateResult(Struct):
        """DOC"""

        class PartitionResult(Struct):
            """DOC"""

            partition: int32
            error_code: Error
            error_message: ErrorMessage | None = since(0, default=None)

        topic_id: TopicId
        partitions: array[PartitionResult]

    results: array[InitializeStateResult]
