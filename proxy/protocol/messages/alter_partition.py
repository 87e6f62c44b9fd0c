"""AlterPartition (key 56): a partition's leader asks the controller to change the in-sync replicas (KIP-497).

It was AlterIsr up to 2.8; v2 replaced topic names by ids.
"""

from proxy.protocol.api import ALTER_PARTITION
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import (
    BrokerId,
    Error,
    PartitionIndex,
    ThrottleTime,
    TopicId,
    TopicName,
    array,
    int8,
    int32,
    int64,
)


class AlterPartitionRequest(Request, api=ALTER_PARTITION):
    """New in-sync replicas of partitions that this broker leads."""

    class Topic(Struct):
        """A topic and its partitions."""

        class Partition(Struct):
            """One partition's new state."""

            class BrokerState(Struct):
                """An in-sync replica and its epoch (KIP-903)."""

                broker_id: BrokerId
                broker_epoch: int64 = field(default=-1)  # -1: not known

            partition_index: PartitionIndex
            leader_epoch: int32
            new_isr: array[BrokerId] = until(2)
            new_isr_with_epochs: array[BrokerState] = since(3)
            leader_recovery_state: int8 = since(1)  # 0: recovered, 1: recovering from an unclean election
            partition_epoch: int32  # the one that the leader knows; KRaft's partition epoch, ZooKeeper's version

        topic_id: TopicId = since(2)
        topic_name: TopicName = until(1)
        partitions: array[Partition]

    broker_id: BrokerId
    broker_epoch: int64 = field(default=-1)  # from its registration
    topics: array[Topic]


class AlterPartitionResponse(Response, api=ALTER_PARTITION):
    """The controller's result."""

    class Topic(Struct):
        """A topic, as asked."""

        class Partition(Struct):
            """A partition's state now."""

            partition_index: PartitionIndex
            error_code: Error
            leader_id: BrokerId
            leader_epoch: int32
            isr: array[BrokerId]
            leader_recovery_state: int8 = since(1)  # 0: recovered, 1: recovering from an unclean election
            partition_epoch: int32

        topic_id: TopicId = since(2)
        topic_name: TopicName = until(1)
        partitions: array[Partition] = field(mirrors="partitions")

    throttle_time_ms: ThrottleTime
    error_code: Error
    topics: array[Topic] = field(mirrors="topics")
