"""BeginQuorumEpoch (key 53): a leader of the metadata quorum tells a voter that it was elected (KIP-595)."""

from proxy.protocol.api import BEGIN_QUORUM_EPOCH
from proxy.protocol.schema import Request, Response, Struct, field, since, tagged
from proxy.protocol.wire import (
    BrokerId,
    ClusterId,
    Error,
    Host,
    PartitionIndex,
    Port16,
    TopicName,
    array,
    int32,
    string,
    uuid,
)


class BeginQuorumEpochRequest(Request, api=BEGIN_QUORUM_EPOCH):
    """Who leads, in which epoch, and where it listens."""

    class Topic(Struct):
        """A topic, which is always `__cluster_metadata`."""

        class Partition(Struct):
            """A partition and its new leader."""

            partition_index: PartitionIndex
            voter_directory_id: uuid = since(1)
            leader_id: BrokerId
            leader_epoch: int32

        topic_name: TopicName
        partitions: array[Partition]

    class LeaderEndpoint(Struct):
        """Where the new leader listens."""

        name: string  # of the listener
        host: Host
        port: Port16

    cluster_id: ClusterId | None = field(default=None)
    voter_id: BrokerId = since(1, default=-1)  # who is told
    topics: array[Topic]
    leader_endpoints: array[LeaderEndpoint] = since(1)


class BeginQuorumEpochResponse(Response, api=BEGIN_QUORUM_EPOCH):
    """Whether the voter accepts it."""

    class Topic(Struct):
        """A topic, as asked."""

        class Partition(Struct):
            """The leader that the voter knows now."""

            partition_index: PartitionIndex
            error_code: Error
            leader_id: BrokerId  # -1: not known
            leader_epoch: int32

        topic_name: TopicName
        partitions: array[Partition] = field(mirrors="partitions")

    class NodeEndpoint(Struct):
        """Where a leader named above listens."""

        node_id: BrokerId
        host: Host
        port: Port16

    error_code: Error
    topics: array[Topic] = field(mirrors="topics")
    node_endpoints: array[NodeEndpoint] = tagged(0, 1)
