"""Vote (key 52): DOC"""

from proxy.protocol.api import VOTE
from proxy.protocol.schema import Request, Response, Struct, since, tagged
from proxy.protocol.wire import BrokerId, ClusterId, Error, Host, Port16, TopicName, array, int32, int64, uuid


class VoteRequest(Request, api=VOTE):
    """DOC"""

    class TopicData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            partition_index: int32
            replica_epoch: int32
            replica_id: BrokerId
            replica_directory_id: uuid = since(1)
            voter_directory_id: uuid = since(1)
            last_offset_epoch: int32
            last_offset: int64
            pre_vote: bool = since(2)

        topic_name: TopicName
        partitions: array[PartitionData]

    cluster_id: ClusterId | None = since(0, default=None)
    voter_id: BrokerId = since(1, default=-1)
    topics: array[TopicData]


class VoteResponse(Response, api=VOTE):
    """DOC"""

    class TopicData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            partition_index: int32
            error_code: Error
            leader_id: BrokerId
            leader_epoch: int32
            vote_granted: bool

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
