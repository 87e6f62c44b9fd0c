"""ReadShareGroupStateSummary (key 87): where share-partitions start, from the share coordinator (KIP-932)."""

from proxy.protocol.api import READ_SHARE_GROUP_STATE_SUMMARY
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import Error, ErrorMessage, GroupId, PartitionIndex, TopicId, array, int32, int64


class ReadShareGroupStateSummaryRequest(Request, api=READ_SHARE_GROUP_STATE_SUMMARY):
    """The share-partitions to describe."""

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


class ReadShareGroupStateSummaryResponse(Response, api=READ_SHARE_GROUP_STATE_SUMMARY):
    """Their summaries."""

    class Topic(Struct):
        """A topic, as asked."""

        class Partition(Struct):
            """One share-partition's summary."""

            partition: PartitionIndex
            error_code: Error
            error_message: ErrorMessage | None = field(default=None)
            state_epoch: int32
            leader_epoch: int32  # came into v0 before its release
            start_offset: int64
            # Records past the start that are done with, -1: not known (KIP-1226).
            delivery_complete_count: int32 = since(1, default=-1)

        topic_id: TopicId
        partitions: array[Partition] = field(mirrors="partitions")

    results: array[Topic] = field(mirrors="topics")
