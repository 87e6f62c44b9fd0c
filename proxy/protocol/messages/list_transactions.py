"""ListTransactions (key 66): DOC"""

from proxy.protocol.api import LIST_TRANSACTIONS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ProducerId, ThrottleTime, TransactionalId, array, int64, string


class ListTransactionsRequest(Request, api=LIST_TRANSACTIONS):
    """DOC"""

    state_filters: array[string]
    producer_id_filters: array[ProducerId]
    duration_filter: int64 = since(1, default=-1)
    transactional_id_pattern: string | None = since(2, default=None)


class ListTransactionsResponse(Response, api=LIST_TRANSACTIONS):
    """DOC"""

    class TransactionState(Struct):
        """DOC"""

        transactional_id: TransactionalId
        producer_id: ProducerId
        transaction_state: string

    throttle_time_ms: ThrottleTime
    error_code: Error
    unknown_state_filters: array[string]
    transaction_states: array[TransactionState]
