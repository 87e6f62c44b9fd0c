"""DeleteShareGroupState (key 86): let the share coordinator forget the state of share-partitions (KIP-932)."""

from proxy.protocol.api import DELETE_SHARE_GROUP_STATE
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, ErrorMessage, GroupId, PartitionIndex, TopicId, array


class DeleteShareGroupStateRequest(Request, api=DELETE_SHARE_GROUP_STATE):
    """The share-partitions to forget."""

    class Topic(Struct):
        """A topic and its partitions."""

        class Partition(Struct):
            """One share-partition."""

            partition: PartitionIndex

        topic_id: TopicId
        partitions: array[Partition]

    group_id: GroupId
    topics: array[Topic]


class DeleteShareGroupStateResponse(Response, api=DELETE_SHARE_GROUP_STATE):
    """What was forgotten."""

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
