"""StopReplica (key 5): DOC"""

from proxy.protocol.api import STOP_REPLICA
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import BrokerId, Error, TopicName, array, int32, int64


class StopReplicaRequest(Request, api=STOP_REPLICA):
    """DOC"""

    class StopReplicaPartitionV0(Struct):
        """DOC"""

        topic_name: TopicName
        partition_index: int32

    class StopReplicaTopicV1(Struct):
        """DOC"""

        name: TopicName
        partition_indexes: array[int32]

    class StopReplicaTopicState(Struct):
        """DOC"""

        class StopReplicaPartitionState(Struct):
            """DOC"""

            partition_index: int32
            leader_epoch: int32 = since(0, default=-1)
            delete_partition: bool

        topic_name: TopicName
        partition_states: array[StopReplicaPartitionState]

    controller_id: BrokerId
    is_k_raft_controller: bool = since(4)
    controller_epoch: int32
    broker_epoch: int64 = since(1, default=-1)
    delete_partitions: bool = until(2)
    ungrouped_partitions: array[StopReplicaPartitionV0] = until(0)
    topics: array[StopReplicaTopicV1] = since(1, 2)
    topic_states: array[StopReplicaTopicState] = since(3)


class StopReplicaResponse(Response, api=STOP_REPLICA):
    """DOC"""

    class StopReplicaPartitionError(Struct):
        """DOC"""

        topic_name: TopicName
        partition_index: int32
        error_code: Error

    error_code: Error
    partition_errors: array[StopReplicaPartitionError]
