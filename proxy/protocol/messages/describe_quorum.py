"""DescribeQuorum (key 55): the metadata quorum: its leader, voters and observers, and how far each is (KIP-595).

From v2 on it tells where each voter listens, which is an address of the controllers' own network.
"""

from proxy.protocol.api import DESCRIBE_QUORUM
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import (
    BrokerId,
    Error,
    ErrorMessage,
    Host,
    PartitionIndex,
    Port16,
    TopicName,
    array,
    int32,
    int64,
    string,
    uuid,
)


class DescribeQuorumRequest(Request, api=DESCRIBE_QUORUM):
    """The partitions to describe."""

    class Topic(Struct):
        """A topic, which is always `__cluster_metadata`."""

        class Partition(Struct):
            """A partition, which is always 0."""

            partition_index: PartitionIndex

        topic_name: TopicName
        partitions: array[Partition]

    topics: array[Topic]


class ReplicaState(Struct):
    """How far one replica has come."""

    replica_id: BrokerId
    replica_directory_id: uuid = since(2)
    log_end_offset: int64
    last_fetch_timestamp: int64 = since(1, default=-1)  # ms since 1970 by the leader's clock, -1: not known
    last_caught_up_timestamp: int64 = since(1, default=-1)  # when it last had all of the leader's log, -1: not known


class DescribeQuorumResponse(Response, api=DESCRIBE_QUORUM):
    """The quorum as its leader sees it."""

    class Topic(Struct):
        """A topic, as asked."""

        class Partition(Struct):
            """A partition's leader and replicas."""

            partition_index: PartitionIndex
            error_code: Error
            error_message: ErrorMessage | None = since(2)
            leader_id: BrokerId  # -1: not known
            leader_epoch: int32
            high_watermark: int64
            current_voters: array[ReplicaState]
            observers: array[ReplicaState]

        topic_name: TopicName
        partitions: array[Partition] = field(mirrors="partitions")

    class Node(Struct):
        """A node of the quorum."""

        class Listener(Struct):
            """Where it listens."""

            name: string  # of the listener
            host: Host
            port: Port16

        node_id: BrokerId
        listeners: array[Listener]

    error_code: Error
    error_message: ErrorMessage | None = since(2)
    topics: array[Topic] = field(mirrors="topics")
    nodes: array[Node] = since(2)
