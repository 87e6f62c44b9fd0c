"""ShareFetch (key 78): records for a member of a share group, which acknowledges earlier ones on the way (KIP-932).

A share session remembers what was asked: epoch 0 opens one, -1 closes it, and in between `topics` holds only what is
new or acknowledged. v0 was the early access of 4.0; v2 adds the renewal of locks (KIP-1222).
"""

from proxy.protocol.api import SHARE_FETCH
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import (
    BrokerId,
    Error,
    ErrorMessage,
    GroupId,
    Host,
    MemberId,
    PartitionIndex,
    Port,
    Records,
    ThrottleTime,
    TopicId,
    array,
    int8,
    int16,
    int32,
    int64,
    string,
)


class ShareFetchRequest(Request, api=SHARE_FETCH):
    """What to fetch and what to acknowledge."""

    class Topic(Struct):
        """A topic and its partitions."""

        class Partition(Struct):
            """A partition to fetch from or to acknowledge records of."""

            class AcknowledgementBatch(Struct):
                """A range of offsets, and what became of them."""

                first_offset: int64
                last_offset: int64  # inclusive
                # 0: gap, 1: accept, 2: release, 3: reject, 4: renew. One for each offset, or one for all of them.
                acknowledge_types: array[int8]

            partition_index: PartitionIndex
            partition_max_bytes: int32 = until(0)
            acknowledgement_batches: array[AcknowledgementBatch]

        topic_id: TopicId
        partitions: array[Partition]

    class ForgottenTopic(Struct):
        """Partitions to take out of the session."""

        topic_id: TopicId
        partitions: array[PartitionIndex]

    group_id: GroupId | None = field(default=None)
    member_id: MemberId | None
    share_session_epoch: int32
    max_wait_ms: int32
    min_bytes: int32
    max_bytes: int32 = field(default=2**31 - 1)
    max_records: int32 = since(1)
    batch_size: int32 = since(1)
    # 0: whole batches, which may exceed max_records, 1: never more than max_records (KIP-1206).
    share_acquire_mode: int8 = since(2)
    is_renew_ack: bool = since(2)  # some acknowledgements renew the lock: the other limits must then be zero
    topics: array[Topic]
    forgotten_topics_data: array[ForgottenTopic]


class ShareFetchResponse(Response, api=SHARE_FETCH):
    """Records, locked for this member."""

    class Topic(Struct):
        """A topic's records."""

        class Partition(Struct):
            """A partition's records."""

            class Leader(Struct):
                """The leader that the asked broker knows."""

                leader_id: BrokerId
                leader_epoch: int32

            class AcquiredRecords(Struct):
                """A range of offsets that the member holds locked now."""

                first_offset: int64
                last_offset: int64  # inclusive
                delivery_count: int16

            partition_index: PartitionIndex
            error_code: Error
            error_message: ErrorMessage | None = field(default=None)
            acknowledge_error_code: Error
            acknowledge_error_message: ErrorMessage | None = field(default=None)
            current_leader: Leader
            records: Records | None  # Kafka says that null is for v0 only; we take it in all
            acquired_records: array[AcquiredRecords]

        topic_id: TopicId
        partitions: array[Partition] = field(mirrors="partitions")

    class NodeEndpoint(Struct):
        """Where a leader named above listens."""

        node_id: BrokerId
        host: Host
        port: Port
        rack: string | None = field(default=None)

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = field(default=None)
    acquisition_lock_timeout_ms: int32 = since(1)  # how long the locks hold
    responses: array[Topic] = field(mirrors="topics")
    node_endpoints: array[NodeEndpoint]
