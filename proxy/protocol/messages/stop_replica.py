"""StopReplica (key 5): the controller tells a broker to stop replicating partitions, and perhaps to delete them.

Spoken only in clusters with ZooKeeper; gone in 4.0. The request changed its shape twice: v0 has a flat list of
partitions, v1 groups them by topic, v3 says for each whether to delete it (KIP-570). The response stayed flat.
"""

from proxy.protocol.api import STOP_REPLICA
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import BrokerId, Error, PartitionIndex, TopicName, array, int32, int64


class StopReplicaRequest(Request, api=STOP_REPLICA):
    """Stop replicating these partitions."""

    class Partition(Struct):
        """A partition, as v0 names it."""

        topic_name: TopicName
        partition_index: PartitionIndex

    class Topic(Struct):
        """A topic and its partitions, as v1 and v2 name them."""

        name: TopicName
        partition_indexes: array[PartitionIndex]

    class TopicState(Struct):
        """A topic and its partitions, from v3 on."""

        class PartitionState(Struct):
            """A partition to stop."""

            partition_index: PartitionIndex
            leader_epoch: int32 = field(default=-1)
            delete_partition: bool

        topic_name: TopicName
        partition_states: array[PartitionState]

    controller_id: BrokerId
    is_kraft_controller: bool = since(4, json="isKRaftController")  # on the way from ZooKeeper (KIP-866)
    controller_epoch: int32
    broker_epoch: int64 = since(1, default=-1)
    delete_partitions: bool = until(2)
    ungrouped_partitions: array[Partition] = until(0)
    topics: array[Topic] = since(1, 2)
    topic_states: array[TopicState] = since(3)


class StopReplicaResponse(Response, api=STOP_REPLICA):
    """What the broker could stop."""

    class PartitionError(Struct):
        """Whether one partition was stopped."""

        topic_name: TopicName
        partition_index: PartitionIndex
        error_code: Error

    error_code: Error
    partition_errors: array[PartitionError] = since(
        0, mirrors=("ungrouped_partitions", "topics.partition_indexes", "topic_states.partition_states")
    )
