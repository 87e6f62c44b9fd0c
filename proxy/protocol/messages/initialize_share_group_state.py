"""InitializeShareGroupState (key 83): let the share coordinator begin the state of share-partitions (KIP-932)."""

from proxy.protocol.api import INITIALIZE_SHARE_GROUP_STATE
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, ErrorMessage, GroupId, PartitionIndex, TopicId, array, int32, int64


class InitializeShareGroupStateRequest(Request, api=INITIALIZE_SHARE_GROUP_STATE):
    """Where each share-partition starts."""

    class Topic(Struct):
        """A topic and its partitions."""

        class Partition(Struct):
            """One share-partition's beginning."""

            partition: PartitionIndex
            state_epoch: int32
            start_offset: int64  # -1: not yet known

        topic_id: TopicId
        partitions: array[Partition]

    group_id: GroupId
    topics: array[Topic]


class InitializeShareGroupStateResponse(Response, api=INITIALIZE_SHARE_GROUP_STATE):
    """What was begun."""

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
