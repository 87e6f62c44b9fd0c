"""AddPartitionsToTxn (key 24): partitions that a transaction will write to (KIP-98).

Clients send v0 to v3, about one transaction. From v4 on brokers send it to the coordinator, about many transactions, or
only ask whether the partitions were added (KIP-890): clients must not send these versions.
"""

from proxy.protocol.api import ADD_PARTITIONS_TO_TXN
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import (
    Error,
    PartitionIndex,
    ProducerId,
    ThrottleTime,
    TopicName,
    TransactionalId,
    array,
    int16,
)


class Topic(Struct):
    """A topic to add."""

    name: TopicName
    partitions: array[PartitionIndex]


class AddPartitionsToTxnRequest(Request, api=ADD_PARTITIONS_TO_TXN):
    """Add these partitions."""

    class Transaction(Struct):
        """A transaction, from v4 on."""

        transactional_id: TransactionalId
        producer_id: ProducerId
        producer_epoch: int16
        verify_only: bool
        topics: array[Topic]

    transactions: array[Transaction] = since(4)
    v3_and_below_transactional_id: TransactionalId = until(3)
    v3_and_below_producer_id: ProducerId = until(3)
    v3_and_below_producer_epoch: int16 = until(3)
    v3_and_below_topics: array[Topic] = until(3)


class TopicResult(Struct):
    """A topic of the request."""

    class Partition(Struct):
        """Whether one partition was added."""

        partition_index: PartitionIndex
        partition_error_code: Error

    name: TopicName
    results_by_partition: array[Partition] = field(mirrors="partitions")


class AddPartitionsToTxnResponse(Response, api=ADD_PARTITIONS_TO_TXN):
    """Which partitions were added."""

    class Transaction(Struct):
        """A transaction of the request, from v4 on."""

        transactional_id: TransactionalId
        topic_results: array[TopicResult] = since(4, mirrors="topics")

    throttle_time_ms: ThrottleTime
    error_code: Error = since(4)
    results_by_transaction: array[Transaction] = since(4, mirrors="transactions")
    results_by_topic_v3_and_below: array[TopicResult] = until(3, mirrors="v3_and_below_topics")
