"""DescribeLogDirs (key 35): DOC"""

from proxy.protocol.api import DESCRIBE_LOG_DIRS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ThrottleTime, TopicName, array, int32, int64, string


class DescribeLogDirsRequest(Request, api=DESCRIBE_LOG_DIRS):
    """DOC"""

    class DescribableLogDirTopic(Struct):
        """DOC"""

        topic: TopicName
        partitions: array[int32]

    topics: array[DescribableLogDirTopic] | None


class DescribeLogDirsResponse(Response, api=DESCRIBE_LOG_DIRS):
    """DOC"""

    class DescribeLogDirsResult(Struct):
        """DOC"""

        class DescribeLogDirsTopic(Struct):
            """DOC"""

            class DescribeLogDirsPartition(Struct):
                """DOC"""

                partition_index: int32
                partition_size: int64
                offset_lag: int64
                is_future_key: bool

            name: TopicName
            partitions: array[DescribeLogDirsPartition]

        error_code: Error
        log_dir: string
        topics: array[DescribeLogDirsTopic]
        total_bytes: int64 = since(4, default=-1)
        usable_bytes: int64 = since(4, default=-1)
        is_cordoned: bool = since(5)

    throttle_time_ms: ThrottleTime
    error_code: Error = since(3)
    results: array[DescribeLogDirsResult]
