"""FetchSnapshot (key 59): part of a snapshot of the metadata log, from some position on (KIP-630)."""

from proxy.protocol.api import FETCH_SNAPSHOT
from proxy.protocol.schema import Request, Response, Struct, field, tagged
from proxy.protocol.wire import (
    BrokerId,
    ClusterId,
    Error,
    Host,
    PartitionIndex,
    Port16,
    Records,
    ReplicaId,
    ThrottleTime,
    TopicName,
    array,
    int32,
    int64,
    uuid,
)


class FetchSnapshotRequest(Request, api=FETCH_SNAPSHOT):
    """Where to read on in which snapshots."""

    class Topic(Struct):
        """A topic, which is always `__cluster_metadata`."""

        class Partition(Struct):
            """A partition and its snapshot."""

            class SnapshotId(Struct):
                """Which snapshot: the end of the log that it stands for."""

                end_offset: int64
                epoch: int32

            partition: PartitionIndex
            current_leader_epoch: int32
            snapshot_id: SnapshotId
            position: int64  # bytes into the snapshot
            replica_directory_id: uuid = tagged(0, 1)

        name: TopicName
        partitions: array[Partition]

    cluster_id: ClusterId | None = tagged(0, 0, default=None)
    replica_id: ReplicaId = field(default=-1)
    max_bytes: int32 = field(default=2**31 - 1)
    topics: array[Topic]


class FetchSnapshotResponse(Response, api=FETCH_SNAPSHOT):
    """Pieces of snapshots."""

    class Topic(Struct):
        """A topic, as asked."""

        class Partition(Struct):
            """A piece of one partition's snapshot."""

            class SnapshotId(Struct):
                """Which snapshot: the end of the log that it stands for."""

                end_offset: int64
                epoch: int32

            class Leader(Struct):
                """The leader that the asked node knows."""

                leader_id: BrokerId
                leader_epoch: int32

            index: PartitionIndex  # the request calls it `partition`
            error_code: Error
            snapshot_id: SnapshotId
            current_leader: Leader = tagged(0, 0)
            size: int64  # of the whole snapshot, in bytes
            position: int64  # bytes into the snapshot
            unaligned_records: Records  # cut anywhere, also within a batch

        name: TopicName
        partitions: array[Partition] = field(mirrors="partitions")

    class NodeEndpoint(Struct):
        """Where a leader named above listens."""

        node_id: BrokerId
        host: Host
        port: Port16

    throttle_time_ms: ThrottleTime
    error_code: Error
    topics: array[Topic] = field(mirrors="topics")
    node_endpoints: array[NodeEndpoint] = tagged(0, 1)
