"""DescribeLogDirs (key 35): the disks of one broker, and what lies on them (KIP-113).

Below v3 a client without the right to ask just gets nothing. v4 tells the size of the disk (KIP-827), v5 whether it is
cordoned off from new replicas (KIP-1066).
"""

from proxy.protocol.api import DESCRIBE_LOG_DIRS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, PartitionIndex, ThrottleTime, TopicName, array, int64, string


class DescribeLogDirsRequest(Request, api=DESCRIBE_LOG_DIRS):
    """What lies where?"""

    class Topic(Struct):
        """A topic to look for."""

        topic: TopicName
        partitions: array[PartitionIndex]

    topics: array[Topic] | None  # null: all


class DescribeLogDirsResponse(Response, api=DESCRIBE_LOG_DIRS):
    """The directories of this broker."""

    class LogDir(Struct):
        """A directory, and the replicas in it."""

        class Topic(Struct):
            """A topic with replicas here."""

            class Partition(Struct):
                """A replica."""

                partition_index: PartitionIndex
                partition_size: int64  # in bytes
                offset_lag: int64  # behind the high watermark, or a future replica behind the current one
                is_future_key: bool  # it is on its way here from another directory

            name: TopicName
            partitions: array[Partition]

        error_code: Error
        log_dir: string
        topics: array[Topic]
        total_bytes: int64 = since(4, default=-1)  # of the volume; -1: unknown
        usable_bytes: int64 = since(4, default=-1)
        is_cordoned: bool = since(5)

    throttle_time_ms: ThrottleTime
    error_code: Error = since(3)
    results: array[LogDir]
