"""ShareFetch (key 78): DOC"""

from proxy.protocol.api import SHARE_FETCH
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import (
    BrokerId,
    Error,
    ErrorMessage,
    GroupId,
    Host,
    MemberId,
    Port,
    Records,
    ThrottleTime,
    TopicId,
    array,
    int8,
    int16,
    int32,
    int64,
    string,
)


class ShareFetchRequest(Request, api=SHARE_FETCH):
    """DOC"""

    class FetchTopic(Struct):
        """DOC"""

        class FetchPartition(Struct):
            """DOC"""

            class AcknowledgementBatch(Struct):
                """DOC"""

                first_offset: int64
                last_offset: int64
                acknowledge_types: array[int8]

            partition_index: int32
            partition_max_bytes: int32 = until(0)
            acknowledgement_batches: array[AcknowledgementBatch]

        topic_id: TopicId
        partitions: array[FetchPartition]

    class ForgottenTopic(Struct):
        """DOC"""

        topic_id: TopicId
        partitions: array[int32]

    group_id: GroupId | None = since(0, default=None)
    member_id: MemberId | None
    share_session_epoch: int32
    max_wait_ms: int32
    min_bytes: int32
    max_bytes: int32 = since(0, default=2147483647)
    max_records: int32 = since(1)
    batch_size: int32 = since(1)
    share_acquire_mode: int8 = since(2)
    is_renew_ack: bool = since(2)
    topics: array[FetchTopic]
    forgotten_topics_data: array[ForgottenTopic]


class ShareFetchResponse(Response, api=SHARE_FETCH):
    """DOC"""

    class ShareFetchableTopicResponse(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            class LeaderIdAndEpoch(Struct):
                """DOC"""

                leader_id: BrokerId
                leader_epoch: int32

            class AcquiredRecords(Struct):
                """DOC"""

                first_offset: int64
                last_offset: int64
                delivery_count: int16

            partition_index: int32
            error_code: Error
            error_message: ErrorMessage | None = since(0, default=None)
            acknowledge_error_code: Error
            acknowledge_error_message: ErrorMessage | None = since(0, default=None)
            current_leader: LeaderIdAndEpoch
            records: Records | None
            acquired_records: array[AcquiredRecords]

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
    acquisition_lock_timeout_ms: int32 = since(1)
    responses: array[ShareFetchableTopicResponse]
    node_endpoints: array[NodeEndpoint]
