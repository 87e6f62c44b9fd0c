"""WriteShareGroupState (key 85): a share-partition's leader writes its state to the share coordinator (KIP-932)."""

from proxy.protocol.api import WRITE_SHARE_GROUP_STATE
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import Error, ErrorMessage, GroupId, PartitionIndex, TopicId, array, int8, int16, int32, int64


class WriteShareGroupStateRequest(Request, api=WRITE_SHARE_GROUP_STATE):
    """What has changed in which share-partitions."""

    class Topic(Struct):
        """A topic and its partitions."""

        class Partition(Struct):
            """One share-partition's changes."""

            class StateBatch(Struct):
                """A range of offsets that are in the same state."""

                first_offset: int64
                last_offset: int64  # inclusive
                delivery_state: int8  # 0: available, 2: acknowledged, 4: archived
                delivery_count: int16

            partition: PartitionIndex
            state_epoch: int32
            leader_epoch: int32
            start_offset: int64  # -1: unchanged
            # Records past the start that are done with, -1: not known (KIP-1226).
            delivery_complete_count: int32 = since(1, default=-1)
            state_batches: array[StateBatch]

        topic_id: TopicId
        partitions: array[Partition]

    group_id: GroupId
    topics: array[Topic]


class WriteShareGroupStateResponse(Response, api=WRITE_SHARE_GROUP_STATE):
    """What was written."""

    class Topic(Struct):
        """A topic, as asked."""

        class Partition(Struct):
            """One share-partition's result."""

            partition: PartitionIndex
            error_code: Error
            error_message: ErrorMessage | None = field(default=None)

        topic_id: TopicId
        partitions: array[Partition] = field(mirrors="partitions")

    results: array[Topic] = field(mirrors="topics")
