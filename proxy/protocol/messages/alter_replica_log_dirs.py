"""AlterReplicaLogDirs (key 34): DOC"""

from proxy.protocol.api import ALTER_REPLICA_LOG_DIRS
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import Error, ThrottleTime, TopicName, array, int32, string


class AlterReplicaLogDirsRequest(Request, api=ALTER_REPLICA_LOG_DIRS):
    """DOC"""

    class AlterReplicaLogDir(Struct):
        """DOC"""

        class AlterReplicaLogDirTopic(Struct):
            """DOC"""

            name: TopicName
            partitions: array[int32]

        path: string
        topics: array[AlterReplicaLogDirTopic]

    dirs: array[AlterReplicaLogDir]


class AlterReplicaLogDirsResponse(Response, api=ALTER_REPLICA_LOG_DIRS):
    """DOC"""

    class AlterReplicaLogDirTopicResult(Struct):
        """DOC"""

        class AlterReplicaLogDirPartitionResult(Struct):
            """DOC"""

            partition_index: int32
            error_code: Error

        topic_name: TopicName
        partitions: array[AlterReplicaLogDirPartitionResult]

    throttle_time_ms: ThrottleTime
    results: array[AlterReplicaLogDirTopicResult]
