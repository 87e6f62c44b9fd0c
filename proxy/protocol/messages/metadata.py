"""Metadata (key 3): DOC"""

from proxy.protocol.api import METADATA
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import (
    AuthorizedOperations,
    BrokerId,
    ClusterId,
    Error,
    Host,
    Port,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int32,
    string,
)


class MetadataRequest(Request, api=METADATA):
    """DOC"""

    class Topic(Struct):
        """DOC"""

        topic_id: TopicId = since(10)
        name: TopicName | None = since(0, nullable=10)

    topics: array[Topic] | None = since(0, nullable=1)
    allow_auto_topic_creation: bool = since(4, default=True)
    include_cluster_authorized_operations: bool = since(8, 10)
    include_topic_authorized_operations: bool = since(8)


class MetadataResponse(Response, api=METADATA):
    """DOC"""

    class Broker(Struct):
        """DOC"""

        node_id: BrokerId
        host: Host
        port: Port
        rack: string | None = since(1, default=None)

    class Topic(Struct):
        """DOC"""

        class Partition(Struct):
            """DOC"""

            error_code: Error
            partition_index: int32
            leader_id: BrokerId
            leader_epoch: int32 = since(7, default=-1)
            replica_nodes: array[BrokerId]
            isr_nodes: array[BrokerId]
            offline_replicas: array[BrokerId] = since(5)

        error_code: Error
        name: TopicName | None = since(0, nullable=12)
        topic_id: TopicId = since(10)
        is_internal: bool = since(1)
        partitions: array[Partition]
        topic_authorized_operations: AuthorizedOperations = since(8, default=-2147483648)

    throttle_time_ms: ThrottleTime = since(3)
    brokers: array[Broker]
    cluster_id: ClusterId | None = since(2, default=None)
    controller_id: BrokerId = since(1, default=-1)
    topics: array[Topic]
    cluster_authorized_operations: AuthorizedOperations = since(8, 10, default=-2147483648)
    error_code: Error = since(13)
