"""ShareAcknowledge (key 79): DOC"""

from proxy.protocol.api import SHARE_ACKNOWLEDGE
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import (
    BrokerId,
    Error,
    ErrorMessage,
    GroupId,
    Host,
    MemberId,
    Port,
    ThrottleTime,
    TopicId,
    array,
    int8,
    int32,
    int64,
    string,
)


class ShareAcknowledgeRequest(Request, api=SHARE_ACKNOWLEDGE):
    """DOC"""

    class AcknowledgeTopic(Struct):
        """DOC"""

        class AcknowledgePartition(Struct):
            """DOC"""

            class AcknowledgementBatch(Struct):
                """DOC"""

                first_offset: int64
                last_offset: int64
                acknowledge_types: array[int8]

            partition_index: int32
            acknowledgement_batches: array[AcknowledgementBatch]

        topic_id: TopicId
        partitions: array[AcknowledgePartition]

    group_id: GroupId | None = since(0, default=None)
    member_id: MemberId | None
    share_session_epoch: int32
    is_renew_ack: bool = since(2)
    topics: array[AcknowledgeTopic]


class ShareAcknowledgeResponse(Response, api=SHARE_ACKNOWLEDGE):
    """DOC"""

    class ShareAcknowledgeTopicResponse(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            class LeaderIdAndEpoch(Struct):
                """DOC"""

                leader_id: BrokerId
                leader_epoch: int32

            partition_index: int32
            error_code: Error
            error_message: ErrorMessage | None = since(0, default=None)
            current_leader: LeaderIdAndEpoch

        topic_id: TopicId
        partitions: array[PartitionData]

    class NodeEndpoint(Struct):
        """DOC"""

        node_id: BrokerId
        host: Host
        port: Port
        rack: string | None = since(0, default=None)

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = since(0, default=None)
    acquisition_lock_timeout_ms: int32 = since(2)
    responses: array[ShareAcknowledgeTopicResponse]
    node_endpoints: array[NodeEndpoint]
