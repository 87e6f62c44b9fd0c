"""TxnOffsetCommit (key 28): DOC"""

from proxy.protocol.api import TXN_OFFSET_COMMIT
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import (
    Error,
    GroupId,
    MemberId,
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
    """DOC"""

    class Topic(Struct):
        """DOC"""

        class Partition(Struct):
            """DOC"""

            partition_index: int32
            committed_offset: int64
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
    """DOC"""

    class Topic(Struct):
        """DOC"""

        class Partition(Struct):
            """DOC"""

            partition_index: int32
            error_code: Error

        name: TopicName = until(5)
        topic_id: TopicId = since(6)
        partitions: array[Partition]

    throttle_time_ms: ThrottleTime
    topics: array[Topic]
