"""DescribeQuorum (key 55): DOC"""

from proxy.protocol.api import DESCRIBE_QUORUM
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import (
    BrokerId,
    Error,
    ErrorMessage,
    Host,
    Port16,
    TopicName,
    array,
    int32,
    int64,
    string,
    uuid,
)


class DescribeQuorumRequest(Request, api=DESCRIBE_QUORUM):
    """DOC"""

    class TopicData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            partition_index: int32

        topic_name: TopicName
        partitions: array[PartitionData]

    topics: array[TopicData]


class ReplicaState(Struct):
    """DOC"""

    replica_id: BrokerId
    replica_directory_id: uuid = since(2)
    log_end_offset: int64
    last_fetch_timestamp: int64 = since(1, default=-1)
    last_caught_up_timestamp: int64 = since(1, default=-1)


class DescribeQuorumResponse(Response, api=DESCRIBE_QUORUM):
    """DOC"""

    class TopicData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            partition_index: int32
            error_code: Error
            error_message: ErrorMessage | None = since(2)
            leader_id: BrokerId
            leader_epoch: int32
            high_watermark: int64
            current_voters: array[ReplicaState]
            observers: array[ReplicaState]

        topic_name: TopicName
        partitions: array[PartitionData]

    class Node(Struct):
        """DOC"""

        class Listener(Struct):
            """DOC"""

            name: string
            host: Host
            port: Port16

        node_id: BrokerId
        listeners: array[Listener]

    error_code: Error
    error_message: ErrorMessage | None = since(2)
    topics: array[TopicData]
    nodes: array[Node] = since(2)
