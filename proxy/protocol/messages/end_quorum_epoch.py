"""EndQuorumEpoch (key 54): a leader of the metadata quorum resigns, and says who should follow (KIP-595)."""

from proxy.protocol.api import END_QUORUM_EPOCH
from proxy.protocol.schema import Request, Response, Struct, field, since, tagged, until
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


class EndQuorumEpochRequest(Request, api=END_QUORUM_EPOCH):
    """Who resigns, and its successors in order of preference."""

    class Topic(Struct):
        """A topic, which is always `__cluster_metadata`."""

        class Partition(Struct):
            """A partition and the leader that resigns."""

            class Candidate(Struct):
                """A voter that may follow."""

                candidate_id: BrokerId
                candidate_directory_id: uuid

            partition_index: PartitionIndex
            leader_id: BrokerId
            leader_epoch: int32
            preferred_successors: array[BrokerId] = until(0)
            preferred_candidates: array[Candidate] = since(1)

        topic_name: TopicName
        partitions: array[Partition]

    class LeaderEndpoint(Struct):
        """Where the resigning leader listens."""

        name: string  # of the listener
        host: Host
        port: Port16

    cluster_id: ClusterId | None = field(default=None)
    topics: array[Topic]
    leader_endpoints: array[LeaderEndpoint] = since(1)


class EndQuorumEpochResponse(Response, api=END_QUORUM_EPOCH):
    """Whether the voter knew it as leader."""

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
