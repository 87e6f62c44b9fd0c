"""UpdateMetadata (key 6): DOC"""

from proxy.protocol.api import UPDATE_METADATA
from proxy.protocol.schema import Request, Response, Struct, since, tagged, until
from proxy.protocol.wire import (
    BrokerId,
    Error,
    Host,
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


class UpdateMetadataPartitionState(Struct):
    """DOC"""

    topic_name: TopicName = until(4)
    partition_index: int32
    controller_epoch: int32
    leader: BrokerId
    leader_epoch: int32
    isr: array[BrokerId]
    zk_version: int32
    replicas: array[BrokerId]
    offline_replicas: array[BrokerId] = since(4)


class UpdateMetadataRequest(Request, api=UPDATE_METADATA):
    """DOC"""

    class UpdateMetadataTopicState(Struct):
        """DOC"""

        topic_name: TopicName
        topic_id: TopicId = since(7)
        partition_states: array[UpdateMetadataPartitionState]

    class UpdateMetadataBroker(Struct):
        """DOC"""

        class UpdateMetadataEndpoint(Struct):
            """DOC"""

            port: Port
            host: Host
            listener: string = since(3)
            security_protocol: int16

        id: BrokerId
        v0_host: Host = until(0)
        v0_port: Port = until(0)
        endpoints: array[UpdateMetadataEndpoint] = since(1)
        rack: string | None = since(2)

    controller_id: BrokerId
    is_k_raft_controller: bool = since(8)
    type: int8 = tagged(0, 8)
    controller_epoch: int32
    broker_epoch: int64 = since(5, default=-1)
    ungrouped_partition_states: array[UpdateMetadataPartitionState] = until(4)
    topic_states: array[UpdateMetadataTopicState] = since(5)
    live_brokers: array[UpdateMetadataBroker]


class UpdateMetadataResponse(Response, api=UPDATE_METADATA):
    """DOC"""

    error_code: Error
