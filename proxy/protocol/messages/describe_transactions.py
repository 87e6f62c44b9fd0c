"""DescribeTransactions (key 65): DOC"""

from proxy.protocol.api import DESCRIBE_TRANSACTIONS
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import (
    Error,
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
    """DOC"""

    transactional_ids: array[TransactionalId]


class DescribeTransactionsResponse(Response, api=DESCRIBE_TRANSACTIONS):
    """DOC"""

    class TransactionState(Struct):
        """DOC"""

        class TopicData(Struct):
            """DOC"""

            topic: TopicName
            partitions: array[int32]

        error_code: Error
        transactional_id: TransactionalId
        transaction_state: string
        transaction_timeout_ms: int32
        transaction_start_time_ms: int64
        producer_id: ProducerId
        producer_epoch: int16
        topics: array[TopicData]

    throttle_time_ms: ThrottleTime
    transaction_states: array[TransactionState]
