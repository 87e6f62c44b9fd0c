"""FetchSnapshot (key 59): DOC"""

from proxy.protocol.api import FETCH_SNAPSHOT
from proxy.protocol.schema import Request, Response, Struct, since, tagged
from proxy.protocol.wire import (
    BrokerId,
    ClusterId,
    Error,
    Host,
    Port16,
    Records,
    ThrottleTime,
    TopicName,
    array,
    int32,
    int64,
    uuid,
)


class FetchSnapshotRequest(Request, api=FETCH_SNAPSHOT):
    """DOC"""

    class TopicSnapshot(Struct):
        """DOC"""

        class PartitionSnapshot(Struct):
            """DOC"""

            class SnapshotId(Struct):
                """DOC"""

                end_offset: int64
                epoch: int32

            partition: int32
            current_leader_epoch: int32
            snapshot_id: SnapshotId
            position: int64
            replica_directory_id: uuid = tagged(0, 1)

        name: TopicName
        partitions: array[PartitionSnapshot]

    cluster_id: ClusterId | None = tagged(0, 0, default=None)
    replica_id: BrokerId = since(0, default=-1)
    max_bytes: int32 = since(0, default=2147483647)
    topics: array[TopicSnapshot]


class FetchSnapshotResponse(Response, api=FETCH_SNAPSHOT):
    """DOC"""

    class TopicSnapshot(Struct):
        """DOC"""

        class PartitionSnapshot(Struct):
            """DOC"""

            class SnapshotId(Struct):
                """DOC"""

                end_offset: int64
                epoch: int32

            class LeaderIdAndEpoch(Struct):
                """DOC"""

                leader_id: BrokerId
                leader_epoch: int32

            index: int32
            error_code: Error
            snapshot_id: SnapshotId
            current_leader: LeaderIdAndEpoch = tagged(0, 0)
            size: int64
            position: int64
            unaligned_records: Records

        name: TopicName
        partitions: array[PartitionSnapshot]

    class NodeEndpoint(Struct):
        """DOC"""

        node_id: BrokerId
        host: Host
        port: Port16

    throttle_time_ms: ThrottleTime
    error_code: Error
    topics: array[TopicSnapshot]
    node_endpoints: array[NodeEndpoint] = tagged(0, 1)
