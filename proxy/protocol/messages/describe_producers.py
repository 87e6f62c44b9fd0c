"""DescribeProducers (key 61): the producers that lately wrote to partitions, and their open transactions (KIP-664)."""

from proxy.protocol.api import DESCRIBE_PRODUCERS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import (
    Error,
    ErrorMessage,
    PartitionIndex,
    ProducerId,
    ThrottleTime,
    TopicName,
    array,
    int32,
    int64,
)


class DescribeProducersRequest(Request, api=DESCRIBE_PRODUCERS):
    """The partitions to describe."""

    class Topic(Struct):
        """A topic and its partitions."""

        name: TopicName
        partition_indexes: array[PartitionIndex]

    topics: array[Topic]


class DescribeProducersResponse(Response, api=DESCRIBE_PRODUCERS):
    """Each partition's active producers."""

    class Topic(Struct):
        """A topic, as asked."""

        class Partition(Struct):
            """A partition's active producers."""

            class Producer(Struct):
                """What the leader knows of one producer."""

                producer_id: ProducerId
                producer_epoch: int32
                last_sequence: int32 = field(default=-1)
                last_timestamp: int64 = field(default=-1)  # ms since 1970
                coordinator_epoch: int32
                current_txn_start_offset: int64 = field(default=-1)  # -1: no open transaction

            partition_index: PartitionIndex
            error_code: Error
            error_message: ErrorMessage | None = field(default=None)
            active_producers: array[Producer]

        name: TopicName
        partitions: array[Partition] = field(mirrors="partition_indexes")

    throttle_time_ms: ThrottleTime
    topics: array[Topic] = field(mirrors="topics")
