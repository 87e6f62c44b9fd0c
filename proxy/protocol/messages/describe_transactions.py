"""DescribeTransactions (key 65): the state of some transactions, from their coordinator (KIP-664)."""

from proxy.protocol.api import DESCRIBE_TRANSACTIONS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import (
    Error,
    PartitionIndex,
    ProducerId,
    ThrottleTime,
    TopicName,
    TransactionalId,
    array,
    int16,
    int32,
    int64,
    string,
)


class DescribeTransactionsRequest(Request, api=DESCRIBE_TRANSACTIONS):
    """The transactions to describe."""

    transactional_ids: array[TransactionalId]


class DescribeTransactionsResponse(Response, api=DESCRIBE_TRANSACTIONS):
    """Each transaction's state."""

    class Transaction(Struct):
        """One transaction."""

        class Topic(Struct):
            """A topic and the partitions that take part."""

            topic: TopicName
            partitions: array[PartitionIndex]

        error_code: Error
        transactional_id: TransactionalId
        transaction_state: string  # such as Ongoing or CompleteCommit
        transaction_timeout_ms: int32
        transaction_start_time_ms: int64  # since 1970
        producer_id: ProducerId
        producer_epoch: int16
        topics: array[Topic]

    throttle_time_ms: ThrottleTime
    transaction_states: array[Transaction] = field(mirrors="transactional_ids")
