"""Fetch (key 1): DOC"""

from proxy.protocol.api import FETCH
from proxy.protocol.schema import Request, Response, Struct, since, tagged, until
from proxy.protocol.wire import (
    BrokerId,
    ClusterId,
    Error,
    Host,
    Port,
    ProducerId,
    Records,
    ReplicaId,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int8,
    int32,
    int64,
    string,
    uuid,
)


class FetchRequest(Request, api=FETCH):
    """DOC"""

    class ReplicaState(Struct):
        """DOC"""

        replica_id: ReplicaId = since(0, default=-1)
        replica_epoch: int64 = since(0, default=-1)

    class FetchTopic(Struct):
        """DOC"""

        class FetchPartition(Struct):
            """DOC"""

            partition: int32
            current_leader_epoch: int32 = since(9, default=-1)
            fetch_offset: int64
            last_fetched_epoch: int32 = since(12, default=-1)
            log_start_offset: int64 = since(5, default=-1)
            partition_max_bytes: int32
            replica_directory_id: uuid = tagged(0, 17)
            high_watermark: int64 = tagged(1, 18, default=9223372036854775807)

        topic: TopicName = until(12)
        topic_id: TopicId = since(13)
        partitions: array[FetchPartition]

    class ForgottenTopic(Struct):
        """DOC"""

        topic: TopicName = until(12)
        topic_id: TopicId = since(13)
        partitions: array[int32]

    cluster_id: ClusterId | None = tagged(0, 12, default=None)
    replica_id: ReplicaId = until(14, default=-1)
    replica_state: ReplicaState = tagged(1, 15)
    max_wait_ms: int32
    min_bytes: int32
    max_bytes: int32 = since(3, default=2147483647)
    isolation_level: int8 = since(4)
    session_id: int32 = since(7)
    session_epoch: int32 = since(7, default=-1)
    topics: array[FetchTopic]
    forgotten_topics_data: array[ForgottenTopic] = since(7)
    rack_id: string = since(11)


class FetchResponse(Response, api=FETCH):
    """DOC"""

    class FetchableTopicResponse(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            class EpochEndOffset(Struct):
                """DOC"""

                epoch: int32 = since(0, default=-1)
                end_offset: int64 = since(0, default=-1)

            class LeaderIdAndEpoch(Struct):
                """DOC"""

                leader_id: BrokerId = since(0, default=-1)
                leader_epoch: int32 = since(0, default=-1)

            class SnapshotId(Struct):
                """DOC"""

                end_offset: int64 = since(0, default=-1)
                epoch: int32 = since(0, default=-1)

            class AbortedTransaction(Struct):
                """DOC"""

                producer_id: ProducerId
                first_offset: int64

            partition_index: int32
            error_code: Error
            high_watermark: int64
            last_stable_offset: int64 = since(4, default=-1)
            log_start_offset: int64 = since(5, default=-1)
            diverging_epoch: EpochEndOffset = tagged(0, 12)
            current_leader: LeaderIdAndEpoch = tagged(1, 12)
            snapshot_id: SnapshotId = tagged(2, 12)
            aborted_transactions: array[AbortedTransaction] | None = since(4)
            preferred_read_replica: BrokerId = since(11, default=-1)
            records: Records | None

        topic: TopicName = until(12)
        topic_id: TopicId = since(13)
        partitions: array[PartitionData]

    class NodeEndpoint(Struct):
        """DOC"""

        node_id: BrokerId
        host: Host
        port: Port
        rack: string | None = since(0, default=None)

    throttle_time_ms: ThrottleTime = since(1)
    error_code: Error = since(7)
    session_id: int32 = since(7)
    responses: array[FetchableTopicResponse]
    node_endpoints: array[NodeEndpoint] = tagged(0, 16)
