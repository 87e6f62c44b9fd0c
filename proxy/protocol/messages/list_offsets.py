"""ListOffsets (key 2): the offset that belongs to a timestamp, or where a partition begins and ends.

Once called Offsets. A negative timestamp is a question of its own: -1 latest, -2 earliest, -3 that of the largest
timestamp (v7, KIP-734), -4 earliest on local disk (v8, KIP-405), -5 latest in remote storage (v9, KIP-1005),
-6 earliest that waits for upload (v11, KIP-1023).
v0 gives the first offsets of segments, many at once; from v1 on there is one offset, of a record (KIP-79).
"""

from proxy.protocol.api import LIST_OFFSETS
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import Error, PartitionIndex, ReplicaId, ThrottleTime, TopicName, array, int8, int32, int64


class ListOffsetsRequest(Request, api=LIST_OFFSETS):
    """Which offsets belong to these timestamps?"""

    class Topic(Struct):
        """A topic to look in."""

        class Partition(Struct):
            """A partition, and the timestamp to look for."""

            partition_index: PartitionIndex
            current_leader_epoch: int32 = since(4, default=-1)  # that the client knows; -1: do not compare
            timestamp: int64
            max_num_offsets: int32 = until(0, default=1)

        name: TopicName
        partitions: array[Partition]

    replica_id: ReplicaId  # -1: a consumer; -2: a debugging consumer
    isolation_level: int8 = since(2)  # 0: read uncommitted, 1: read committed
    topics: array[Topic]
    timeout_ms: int32 = since(10)  # for what must be looked up in remote storage (KIP-1075)


class ListOffsetsResponse(Response, api=LIST_OFFSETS):
    """The offsets found."""

    class Topic(Struct):
        """A topic of the request."""

        class Partition(Struct):
            """The offset found in one partition."""

            partition_index: PartitionIndex
            error_code: Error
            timestamp: int64 = since(1, default=-1)
            offset: int64 = since(1, default=-1)  # -1: no record is that young
            leader_epoch: int32 = since(4, default=-1)
            old_style_offsets: array[int64] = until(0)  # descending

        name: TopicName
        partitions: array[Partition] = field(mirrors="partitions")

    throttle_time_ms: ThrottleTime = since(2)
    topics: array[Topic] = field(mirrors="topics")
