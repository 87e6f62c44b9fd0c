"""LeaderAndIsr (key 4): the controller tells a broker which partitions it leads or follows.

Spoken only in clusters with ZooKeeper; gone in 4.0. From v2 on the partitions are grouped by topic, in the response
from v5 on, which names topics by id only (KIP-516).
"""

from proxy.protocol.api import LEADER_AND_ISR
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import (
    BrokerId,
    Error,
    Host,
    PartitionIndex,
    Port,
    TopicId,
    TopicName,
    array,
    int8,
    int32,
    int64,
)


class PartitionState(Struct):
    """A partition, its leader and its replicas."""

    topic_name: TopicName = until(1)
    partition_index: PartitionIndex
    controller_epoch: int32
    leader: BrokerId
    leader_epoch: int32
    isr: array[BrokerId]
    partition_epoch: int32
    replicas: array[BrokerId]
    adding_replicas: array[BrokerId] = since(3)
    removing_replicas: array[BrokerId] = since(3)
    is_new: bool = since(1)
    leader_recovery_state: int8 = since(6)  # 0: recovered, 1: recovering from an unclean election (KIP-704)


class LeaderAndIsrRequest(Request, api=LEADER_AND_ISR):
    """Lead or follow these partitions."""

    class TopicState(Struct):
        """A topic whose partitions change."""

        topic_name: TopicName
        topic_id: TopicId = since(5)
        partition_states: array[PartitionState]

    class LiveLeader(Struct):
        """A broker that leads one of the partitions, and where it listens."""

        broker_id: BrokerId
        host_name: Host
        port: Port

    controller_id: BrokerId
    is_kraft_controller: bool = since(7, json="isKRaftController")  # on the way from ZooKeeper (KIP-866)
    controller_epoch: int32
    broker_epoch: int64 = since(2, default=-1)
    type: int8 = since(5)  # 0: unknown, 1: some partitions, 2: all of this broker
    ungrouped_partition_states: array[PartitionState] = until(1)
    topic_states: array[TopicState] = since(2)
    live_leaders: array[LiveLeader]


class PartitionError(Struct):
    """Whether the broker took over its part in one partition."""

    topic_name: TopicName = until(4)
    partition_index: PartitionIndex
    error_code: Error


class LeaderAndIsrResponse(Response, api=LEADER_AND_ISR):
    """What the broker could take over."""

    class Topic(Struct):
        """A topic of the request."""

        topic_id: TopicId
        partition_errors: array[PartitionError] = since(5, mirrors="partition_states")

    error_code: Error
    partition_errors: array[PartitionError] = until(
        4, mirrors=("ungrouped_partition_states", "topic_states.partition_states")
    )
    topics: array[Topic] = since(5, mirrors="topic_states")
