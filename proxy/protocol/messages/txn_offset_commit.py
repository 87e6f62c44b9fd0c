"""TxnOffsetCommit (key 28): how far a group has read, valid if the transaction is committed (KIP-98).

v3 says which member commits, so that a fenced one cannot (KIP-447); from v5 on it adds the group to the transaction by
itself, without AddOffsetsToTxn (KIP-890); v6 has topic ids instead of names.
"""

from proxy.protocol.api import TXN_OFFSET_COMMIT
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import (
    Error,
    GroupId,
    MemberId,
    PartitionIndex,
    ProducerId,
    ThrottleTime,
    TopicId,
    TopicName,
    TransactionalId,
    array,
    int16,
    int32,
    int64,
    string,
)


class TxnOffsetCommitRequest(Request, api=TXN_OFFSET_COMMIT):
    """Keep these offsets for the group, once the transaction is committed."""

    class Topic(Struct):
        """A topic that the group reads."""

        class Partition(Struct):
            """A partition, and the offset to keep."""

            partition_index: PartitionIndex
            committed_offset: int64  # the next to read, not the last read
            committed_leader_epoch: int32 = since(2, default=-1)
            committed_metadata: string | None

        name: TopicName = until(5)
        topic_id: TopicId = since(6)
        partitions: array[Partition]

    transactional_id: TransactionalId
    group_id: GroupId
    producer_id: ProducerId
    producer_epoch: int16
    generation_id_or_member_epoch: int32 = since(3, default=-1)
    member_id: MemberId = since(3)
    group_instance_id: MemberId | None = since(3, default=None)
    topics: array[Topic]


class TxnOffsetCommitResponse(Response, api=TXN_OFFSET_COMMIT):
    """Which offsets are noted."""

    class Topic(Struct):
        """A topic of the request."""

        class Partition(Struct):
            """Whether the offset of one partition is noted."""

            partition_index: PartitionIndex
            error_code: Error

        name: TopicName = until(5)
        topic_id: TopicId = since(6)
        partitions: array[Partition] = field(mirrors="partitions")

    throttle_time_ms: ThrottleTime
    topics: array[Topic] = field(mirrors="topics")
