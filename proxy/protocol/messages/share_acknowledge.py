"""ShareAcknowledge (key 79): a member of a share group tells what became of records (KIP-932)."""

from proxy.protocol.api import SHARE_ACKNOWLEDGE
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import (
    BrokerId,
    Error,
    ErrorMessage,
    GroupId,
    Host,
    MemberId,
    PartitionIndex,
    Port,
    ThrottleTime,
    TopicId,
    array,
    int8,
    int32,
    int64,
    string,
)


class ShareAcknowledgeRequest(Request, api=SHARE_ACKNOWLEDGE):
    """What became of records."""

    class Topic(Struct):
        """A topic and its partitions."""

        class Partition(Struct):
            """A partition and its records."""

            class AcknowledgementBatch(Struct):
                """A range of offsets, and what became of them."""

                first_offset: int64
                last_offset: int64  # inclusive
                # 0: gap, 1: accept, 2: release, 3: reject, 4: renew. One for each offset, or one for all of them.
                acknowledge_types: array[int8]

            partition_index: PartitionIndex
            acknowledgement_batches: array[AcknowledgementBatch]

        topic_id: TopicId
        partitions: array[Partition]

    group_id: GroupId | None = field(default=None)
    member_id: MemberId | None
    share_session_epoch: int32  # -1 closes the session; 0, which opens one, is not for this API
    is_renew_ack: bool = since(2)  # some acknowledgements renew the lock (KIP-1222)
    topics: array[Topic]


class ShareAcknowledgeResponse(Response, api=SHARE_ACKNOWLEDGE):
    """Whether the acknowledgements were taken."""

    class Topic(Struct):
        """A topic, as asked."""

        class Partition(Struct):
            """One partition's result."""

            class Leader(Struct):
                """The leader that the asked broker knows."""

                leader_id: BrokerId
                leader_epoch: int32

            partition_index: PartitionIndex
            error_code: Error
            error_message: ErrorMessage | None = field(default=None)
            current_leader: Leader

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
    acquisition_lock_timeout_ms: int32 = since(2)  # how long renewed locks hold
    responses: array[Topic] = field(mirrors="topics")
    node_endpoints: array[NodeEndpoint]
