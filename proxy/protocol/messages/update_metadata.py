"""UpdateMetadata (key 6): the controller tells a broker about all brokers and changed partitions.

Spoken only in clusters with ZooKeeper; gone in 4.0. v0 has one address per broker, later versions one per listener;
from v5 on the partitions are grouped by topic.
"""

from proxy.protocol.api import UPDATE_METADATA
from proxy.protocol.schema import Request, Response, Struct, since, tagged, until
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
    int16,
    int32,
    int64,
    string,
)


class PartitionState(Struct):
    """A partition, its leader and its replicas."""

    topic_name: TopicName = until(4)
    partition_index: PartitionIndex
    controller_epoch: int32
    leader: BrokerId  # -2: the topic is being deleted
    leader_epoch: int32
    isr: array[BrokerId]
    zk_version: int32
    replicas: array[BrokerId]
    offline_replicas: array[BrokerId] = since(4)


class UpdateMetadataRequest(Request, api=UPDATE_METADATA):
    """This is what the cluster looks like now."""

    class TopicState(Struct):
        """A topic whose partitions changed."""

        topic_name: TopicName
        topic_id: TopicId = since(7)
        partition_states: array[PartitionState]

    class Broker(Struct):
        """A broker that is alive."""

        class Endpoint(Struct):
            """Where one of its listeners listens."""

            port: Port
            host: Host
            listener: string = since(3)
            security_protocol: int16  # 0: PLAINTEXT, 1: SSL, 2: SASL_PLAINTEXT, 3: SASL_SSL

        id: BrokerId
        v0_host: Host = until(0)
        v0_port: Port = until(0)
        endpoints: array[Endpoint] = since(1)
        rack: string | None = since(2)

    controller_id: BrokerId
    is_kraft_controller: bool = since(8, json="isKRaftController")  # on the way from ZooKeeper (KIP-866)
    type: int8 = tagged(0, 8)  # 0: unknown, 1: some partitions, 2: all
    controller_epoch: int32
    broker_epoch: int64 = since(5, default=-1)
    ungrouped_partition_states: array[PartitionState] = until(4)
    topic_states: array[TopicState] = since(5)
    live_brokers: array[Broker]


class UpdateMetadataResponse(Response, api=UPDATE_METADATA):
    """Whether the broker took note."""

    error_code: Error
