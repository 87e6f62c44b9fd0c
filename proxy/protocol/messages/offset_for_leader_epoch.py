"""OffsetForLeaderEpoch (key 23): where a leader's epoch ended in the log, to find where two logs diverge (KIP-101).

Followers send it, and from v2 on consumers too (KIP-320). v1 brought the epoch that the offset belongs to (KIP-279).
"""

from proxy.protocol.api import OFFSET_FOR_LEADER_EPOCH
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import Error, PartitionIndex, ReplicaId, ThrottleTime, TopicName, array, int32, int64


class OffsetForLeaderEpochRequest(Request, api=OFFSET_FOR_LEADER_EPOCH):
    """Where did these epochs end?"""

    class Topic(Struct):
        """A topic to look in."""

        class Partition(Struct):
            """A partition, and the epoch to look for."""

            partition: PartitionIndex
            current_leader_epoch: int32 = since(2, default=-1)  # that the client knows; -1: do not compare
            leader_epoch: int32

        topic: TopicName
        partitions: array[Partition]

    replica_id: ReplicaId = since(3, default=-2)  # -1: a consumer; -2: a debugging consumer
    topics: array[Topic]


class OffsetForLeaderEpochResponse(Response, api=OFFSET_FOR_LEADER_EPOCH):
    """Where the epochs ended."""

    class Topic(Struct):
        """A topic of the request."""

        class Partition(Struct):
            """Where the epoch ended in one partition."""

            error_code: Error
            partition: PartitionIndex
            leader_epoch: int32 = since(1, default=-1)  # the largest that is not above the one asked for
            end_offset: int64 = field(default=-1)

        topic: TopicName
        partitions: array[Partition] = field(mirrors="partitions")

    throttle_time_ms: ThrottleTime = since(2)
    topics: array[Topic] = field(mirrors="topics")
