"""AssignReplicasToDirs (key 73): DOC"""

from proxy.protocol.api import ASSIGN_REPLICAS_TO_DIRS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import BrokerId, Error, ThrottleTime, TopicId, array, int32, int64, uuid


class AssignReplicasToDirsRequest(Request, api=ASSIGN_REPLICAS_TO_DIRS):
    """DOC"""

    class DirectoryData(Struct):
        """DOC"""

        class TopicData(Struct):
            """DOC"""

            class PartitionData(Struct):
                """DOC"""

                partition_index: int32

            topic_id: TopicId
            partitions: array[PartitionData]

        id: uuid
        topics: array[TopicData]

    broker_id: BrokerId
    broker_epoch: int64 = since(0, default=-1)
    directories: array[DirectoryData]


class AssignReplicasToDirsResponse(Response, api=ASSIGN_REPLICAS_TO_DIRS):
    """DOC"""

    class DirectoryData(Struct):
        """DOC"""

        class TopicData(Struct):
            """DOC"""

            class PartitionData(Struct):
                """DOC"""

                partition_index: int32
                error_code: Error

            topic_id: TopicId
            partitions: array[PartitionData]

        id: uuid
        topics: array[TopicData]

    throttle_time_ms: ThrottleTime
    error_code: Error
    directories: array[DirectoryData]
