"""BeginQuorumEpoch (key 53): DOC"""

from proxy.protocol.api import BEGIN_QUORUM_EPOCH
from proxy.protocol.schema import Request, Response, Struct, since, tagged
from proxy.protocol.wire import BrokerId, ClusterId, Error, Host, Port16, TopicName, array, int32, string, uuid


class BeginQuorumEpochRequest(Request, api=BEGIN_QUORUM_EPOCH):
    """DOC"""

    class TopicData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            partition_index: int32
            voter_directory_id: uuid = since(1)
            leader_id: BrokerId
            leader_epoch: int32

        topic_name: TopicName
        partitions: array[PartitionData]

    class LeaderEndpoint(Struct):
        """DOC"""

        name: string
        host: Host
        port: Port16

    cluster_id: ClusterId | None = since(0, default=None)
    voter_id: BrokerId = since(1, default=-1)
    topics: array[TopicData]
    leader_endpoints: array[LeaderEndpoint] = since(1)


class BeginQuorumEpochResponse(Response, api=BEGIN_QUORUM_EPOCH):
    """DOC"""

    class TopicData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            partition_index: int32
            error_code: Error
            leader_id: BrokerId
            leader_epoch: int32

        topic_name: TopicName
        partitions: array[PartitionData]

    class NodeEndpoint(Struct):
        """DOC"""

        node_id: BrokerId
        host: Host
        port: Port16

    error_code: Error
    topics: array[TopicData]
    node_endpoints: array[NodeEndpoint] = tagged(0, 1)
