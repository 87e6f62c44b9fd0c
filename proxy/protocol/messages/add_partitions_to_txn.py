"""AddPartitionsToTxn (key 24): DOC"""

from proxy.protocol.api import ADD_PARTITIONS_TO_TXN
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import Error, ProducerId, ThrottleTime, TopicName, TransactionalId, array, int16, int32


class AddPartitionsToTxnTopic(Struct):
    """DOC"""

    name: TopicName
    partitions: array[int32]


class AddPartitionsToTxnRequest(Request, api=ADD_PARTITIONS_TO_TXN):
    """DOC"""

    class AddPartitionsToTxnTransaction(Struct):
        """DOC"""

        transactional_id: TransactionalId
        producer_id: ProducerId
        producer_epoch: int16
        verify_only: bool
        topics: array[AddPartitionsToTxnTopic]

    transactions: array[AddPartitionsToTxnTransaction] = since(4)
    v3_and_below_transactional_id: TransactionalId = until(3)
    v3_and_below_producer_id: ProducerId = until(3)
    v3_and_below_producer_epoch: int16 = until(3)
    v3_and_below_topics: array[AddPartitionsToTxnTopic] = until(3)


class AddPartitionsToTxnPartitionResult(Struct):
    """DOC"""

    partition_index: int32
    partition_error_code: Error


class AddPartitionsToTxnTopicResult(Struct):
    """DOC"""

    name: TopicName
    results_by_partition: array[AddPartitionsToTxnPartitionResult]


class AddPartitionsToTxnResponse(Response, api=ADD_PARTITIONS_TO_TXN):
    """DOC"""

    class AddPartitionsToTxnResult(Struct):
        """DOC"""

        transactional_id: TransactionalId
        topic_results: array[AddPartitionsToTxnTopicResult]

    throttle_time_ms: ThrottleTime
    error_code: Error = since(4)
    results_by_transaction: array[AddPartitionsToTxnResult] = since(4)
    results_by_topic_v3_and_below: array[AddPartitionsToTxnTopicResult] = until(3)
