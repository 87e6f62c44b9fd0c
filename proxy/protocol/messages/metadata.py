"""Metadata (key 3): the brokers, and who leads which partition, as one broker knows them.

To ask for all topics, v0 sends no topic and later versions null; from v1 on no topic means none.
v8 tells what the client may do (KIP-430; for the cluster only until v10, then DescribeCluster does), v10 topic ids,
v12 takes them instead of names (KIP-516), v13 may send the client back to its bootstrap addresses (KIP-1102).
"""

from proxy.protocol.api import METADATA
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import (
    AuthorizedOperations,
    BrokerId,
    ClusterId,
    Error,
    Host,
    PartitionIndex,
    Port,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int32,
    string,
)


class MetadataRequest(Request, api=METADATA):
    """Tell me about these topics, or all."""

    class Topic(Struct):
        """A topic by name, or from v12 on by id."""

        topic_id: TopicId = since(10)  # brokers refuse it before v12
        name: TopicName | None = field(nullable=10)

    topics: array[Topic] | None = field(nullable=1)
    allow_auto_topic_creation: bool = since(4, default=True)
    include_cluster_authorized_operations: bool = since(8, 10)
    include_topic_authorized_operations: bool = since(8)


class MetadataResponse(Response, api=METADATA):
    """Brokers, topics and their leaders."""

    class Broker(Struct):
        """A broker that is alive, and where it listens."""

        node_id: BrokerId
        host: Host
        port: Port
        rack: string | None = since(1, default=None)

    class Topic(Struct):
        """A topic and its partitions."""

        class Partition(Struct):
            """A partition, its leader and its replicas."""

            error_code: Error
            partition_index: PartitionIndex
            leader_id: BrokerId  # -1: nobody leads it now
            leader_epoch: int32 = since(7, default=-1)
            replica_nodes: array[BrokerId]
            isr_nodes: array[BrokerId]
            offline_replicas: array[BrokerId] = since(5)

        error_code: Error
        name: TopicName | None = field(nullable=12)  # null: only the id is known, or the name is hidden
        topic_id: TopicId = since(10)
        is_internal: bool = since(1)
        partitions: array[Partition]
        topic_authorized_operations: AuthorizedOperations = since(8, default=-(2**31))  # the default: not asked for

    throttle_time_ms: ThrottleTime = since(3)
    brokers: array[Broker]
    cluster_id: ClusterId | None = since(2, default=None)
    controller_id: BrokerId = since(1, default=-1)  # KRaft brokers name any broker, which passes requests on
    topics: array[Topic] = field(mirrors="topics")
    cluster_authorized_operations: AuthorizedOperations = since(8, 10, default=-(2**31))
    error_code: Error = since(13)
