"""Vote (key 52): a replica wants to lead the metadata quorum, and asks for a voter's vote (KIP-595).

From v1 on voters are known by id and directory id (KIP-853); v2 adds the pre-vote, which asks without moving to the
next epoch (KIP-996). Ports are unsigned 16 bits wide here, as in all APIs of the quorum.
"""

from proxy.protocol.api import VOTE
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
    int64,
    uuid,
)


class VoteRequest(Request, api=VOTE):
    """A candidate asks for a vote."""

    class Topic(Struct):
        """A topic, which is always `__cluster_metadata`."""

        class Partition(Struct):
            """A partition, which is always 0."""

            partition_index: PartitionIndex
            replica_epoch: int32  # of the candidate, bumped unless this is a pre-vote
            replica_id: BrokerId  # the candidate
            replica_directory_id: uuid = since(1)
            voter_directory_id: uuid = since(1)
            last_offset_epoch: int32  # of the candidate's last record
            last_offset: int64  # the end of the candidate's log
            pre_vote: bool = since(2)

        topic_name: TopicName
        partitions: array[Partition]

    cluster_id: ClusterId | None = field(default=None)
    voter_id: BrokerId = since(1, default=-1)  # whose vote is asked for
    topics: array[Topic]


class VoteResponse(Response, api=VOTE):
    """A voter's answer."""

    class Topic(Struct):
        """A topic, as asked."""

        class Partition(Struct):
            """The vote, and the leader that the voter knows."""

            partition_index: PartitionIndex
            error_code: Error
            leader_id: BrokerId  # -1: not known
            leader_epoch: int32
            vote_granted: bool

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
