"""ReadShareGroupState (key 84): a share-partition's leader reads its state from the share coordinator (KIP-932)."""

from proxy.protocol.api import READ_SHARE_GROUP_STATE
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, ErrorMessage, GroupId, PartitionIndex, TopicId, array, int8, int16, int32, int64


class ReadShareGroupStateRequest(Request, api=READ_SHARE_GROUP_STATE):
    """The share-partitions to read."""

    class Topic(Struct):
        """A topic and its partitions."""

        class Partition(Struct):
            """One share-partition."""

            partition: PartitionIndex
            leader_epoch: int32

        topic_id: TopicId
        partitions: array[Partition]

    group_id: GroupId
    topics: array[Topic]


class ReadShareGroupStateResponse(Response, api=READ_SHARE_GROUP_STATE):
    """Their states."""

    class Topic(Struct):
        """A topic, as asked."""

        class Partition(Struct):
            """One share-partition's state."""

            class StateBatch(Struct):
                """A range of offsets that are in the same state."""

                first_offset: int64
                last_offset: int64  # inclusive
                delivery_state: int8  # 0: available, 2: acknowledged, 4: archived
                delivery_count: int16

            partition: PartitionIndex
            error_code: Error
            error_message: ErrorMessage | None = field(default=None)
            state_epoch: int32
            start_offset: int64  # -1: not yet known
            state_batches: array[StateBatch]

        topic_id: TopicId
        partitions: array[Partition] = field(mirrors="partitions")

    results: array[Topic] = field(mirrors="topics")
