"""AlterReplicaLogDirs (key 34): move replicas between the disks of one broker (KIP-113).

The request goes by directory, the response by topic.
"""

from proxy.protocol.api import ALTER_REPLICA_LOG_DIRS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, PartitionIndex, ThrottleTime, TopicName, array, string


class AlterReplicaLogDirsRequest(Request, api=ALTER_REPLICA_LOG_DIRS):
    """Keep these replicas in these directories."""

    class Dir(Struct):
        """A directory, and what shall be in it."""

        class Topic(Struct):
            """A topic whose replicas move."""

            name: TopicName
            partitions: array[PartitionIndex]

        path: string
        topics: array[Topic]

    dirs: array[Dir]


class AlterReplicaLogDirsResponse(Response, api=ALTER_REPLICA_LOG_DIRS):
    """Which replicas move."""

    class Topic(Struct):
        """A topic of the request."""

        class Partition(Struct):
            """Whether the replica of one partition moves."""

            partition_index: PartitionIndex
            error_code: Error

        topic_name: TopicName
        partitions: array[Partition] = field(mirrors="partitions")

    throttle_time_ms: ThrottleTime
    results: array[Topic] = field(mirrors="dirs.topics")
