"""Fetch (key 1): records of some partitions, from some offsets on.

Consumers fetch, and so do followers: a replica id of 0 or above marks one, and no client may send it.
v4 brought record batches v2 and isolation (KIP-98), v11 the nearest replica (KIP-392), v12 the detection of diverged
logs (KIP-595), v13 topic ids instead of names (KIP-516), v16 the leader that the client should have asked (KIP-951).
From v7 on a session (KIP-227) lets both sides leave out what did not change: an incremental request names only the
partitions to add, change or forget, and its response only those with news. Id 0 and epoch 0 ask for a new session,
epoch -1 for none or to close this one; a response with session id 0 says that none was made.
"""

from proxy.protocol.api import FETCH
from proxy.protocol.schema import Request, Response, Struct, field, since, tagged, until
from proxy.protocol.wire import (
    BrokerId,
    ClusterId,
    Error,
    Host,
    PartitionIndex,
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
    """Give me records, as soon as there are enough or I have waited long enough."""

    class ReplicaState(Struct):
        """The follower that fetches; of a consumer all is -1."""

        replica_id: ReplicaId = field(default=-1)
        replica_epoch: int64 = field(default=-1)

    class Topic(Struct):
        """A topic to fetch."""

        class Partition(Struct):
            """A partition, and the offset to start from."""

            partition: PartitionIndex
            current_leader_epoch: int32 = since(9, default=-1)  # that the client knows; -1: do not compare
            fetch_offset: int64
            last_fetched_epoch: int32 = since(12, default=-1)
            log_start_offset: int64 = since(5, default=-1)  # of the follower; of a consumer -1
            partition_max_bytes: int32
            replica_directory_id: uuid = tagged(0, 17)
            high_watermark: int64 = tagged(1, 18, default=2**63 - 1)  # of the follower (KIP-1166)

        topic: TopicName = until(12)
        topic_id: TopicId = since(13)
        partitions: array[Partition]

    class ForgottenTopic(Struct):
        """Partitions to take out of the session."""

        topic: TopicName = until(12)
        topic_id: TopicId = since(13)
        partitions: array[PartitionIndex]

    cluster_id: ClusterId | None = tagged(0, 12, default=None)  # from controllers
    replica_id: ReplicaId = until(14, default=-1)  # -1: a consumer; -2: a debugging consumer
    replica_state: ReplicaState = tagged(1, 15)
    max_wait_ms: int32
    min_bytes: int32
    max_bytes: int32 = since(3, default=2**31 - 1)  # the first batch is given even if it is larger
    isolation_level: int8 = since(4)  # 0: read uncommitted, 1: read committed
    session_id: int32 = since(7)
    session_epoch: int32 = since(7, default=-1)
    topics: array[Topic]
    forgotten_topics_data: array[ForgottenTopic] = since(7)
    rack_id: string = since(11)


class FetchResponse(Response, api=FETCH):
    """The records, as they lie in the log."""

    class Topic(Struct):
        """A topic of the request or of the session."""

        class Partition(Struct):
            """A partition's records, and how far its log goes."""

            class EpochEndOffset(Struct):
                """Where the follower's log and the leader's diverge."""

                epoch: int32 = field(default=-1)
                end_offset: int64 = field(default=-1)

            class Leader(Struct):
                """The partition's leader, as far as this broker knows."""

                leader_id: BrokerId = field(default=-1)
                leader_epoch: int32 = field(default=-1)

            class SnapshotId(Struct):
                """The snapshot to fetch instead, of the metadata log."""

                end_offset: int64 = field(default=-1)
                epoch: int32 = field(default=-1)

            class AbortedTransaction(Struct):
                """A transaction whose records a read-committed consumer skips."""

                producer_id: ProducerId
                first_offset: int64

            partition_index: PartitionIndex
            error_code: Error
            high_watermark: int64
            last_stable_offset: int64 = since(4, default=-1)  # all transactions before it are decided
            log_start_offset: int64 = since(5, default=-1)
            diverging_epoch: EpochEndOffset = tagged(0, 12)
            current_leader: Leader = tagged(1, 12)  # only with NOT_LEADER_OR_FOLLOWER and FENCED_LEADER_EPOCH
            snapshot_id: SnapshotId = tagged(2, 12)
            aborted_transactions: array[AbortedTransaction] | None = since(4)  # null: read uncommitted
            preferred_read_replica: BrokerId = since(11, default=-1)  # the broker to fetch from; -1: this one
            # May begin before the offset that was asked for, and end in the middle of a batch.
            records: Records | None

        topic: TopicName = until(12)
        topic_id: TopicId = since(13)
        partitions: array[Partition] = field(mirrors="partitions")

    class NodeEndpoint(Struct):
        """Where a broker named in `current_leader` listens."""

        node_id: BrokerId
        host: Host
        port: Port
        rack: string | None = field(default=None)

    throttle_time_ms: ThrottleTime = since(1)
    error_code: Error = since(7)
    session_id: int32 = since(7)
    responses: array[Topic] = field(mirrors="topics")
    node_endpoints: array[NodeEndpoint] = tagged(0, 16)
