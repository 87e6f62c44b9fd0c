"""EndQuorumEpoch (key 54): DOC"""

from proxy.protocol.api import END_QUORUM_EPOCH
from proxy.protocol.schema import Request, Response, Struct, since, tagged, until
from proxy.protocol.wire import BrokerId, ClusterId, Error, Host, Port16, TopicName, array, int32, string, uuid


class EndQuorumEpochRequest(Request, api=END_QUORUM_EPOCH):
    """DOC"""

    class TopicData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            class ReplicaInfo(Struct):
                """DOC"""

                candidate_id: BrokerId
                candidate_directory_id: uuid

            partition_index: int32
            leader_id: BrokerId
            leader_epoch: int32
            preferred_successors: array[int32] = until(0)
            preferred_candidates: array[ReplicaInfo] = since(1)

        topic_name: TopicName
        partitions: array[PartitionData]

    class LeaderEndpoint(Struct):
        """DOC"""

        name: string
        host: Host
        port: Port16

    cluster_id: ClusterId | None = since(0, default=None)
    topics: array[TopicData]
    leader_endpoints: array[LeaderEndpoint] = since(1)


class EndQuorumEpochResponse(Response, api=END_QUORUM_EPOCH):
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
