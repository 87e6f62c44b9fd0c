"""WriteTxnMarkers (key 27): a coordinator has the outcome of transactions written to their partitions (KIP-98)."""

from proxy.protocol.api import WRITE_TXN_MARKERS
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import Error, PartitionIndex, ProducerId, TopicName, array, int8, int16, int32


class WriteTxnMarkersRequest(Request, api=WRITE_TXN_MARKERS):
    """Write these markers."""

    class Marker(Struct):
        """The outcome of one transaction."""

        class Topic(Struct):
            """A topic that the transaction wrote to."""

            name: TopicName
            partition_indexes: array[PartitionIndex]

        producer_id: ProducerId
        producer_epoch: int16
        transaction_result: bool  # true: committed, false: aborted
        topics: array[Topic]
        coordinator_epoch: int32
        transaction_version: int8 = since(2)

    markers: array[Marker]


class WriteTxnMarkersResponse(Response, api=WRITE_TXN_MARKERS):
    """Which markers were written."""

    class Marker(Struct):
        """A marker of the request."""

        class Topic(Struct):
            """A topic of the marker."""

            class Partition(Struct):
                """Whether the marker was written to one partition."""

                partition_index: PartitionIndex
                error_code: Error

            name: TopicName
            partitions: array[Partition] = field(mirrors="partition_indexes")

        producer_id: ProducerId
        topics: array[Topic] = field(mirrors="topics")

    markers: array[Marker] = field(mirrors="markers")
