"""ListTransactions (key 66): the transactions that a coordinator knows (KIP-664)."""

from proxy.protocol.api import LIST_TRANSACTIONS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ProducerId, ThrottleTime, TransactionalId, array, int64, string


class ListTransactionsRequest(Request, api=LIST_TRANSACTIONS):
    """Which transactions to list; an empty filter lets all pass."""

    state_filters: array[string]  # such as Ongoing or CompleteCommit
    producer_id_filters: array[ProducerId]
    duration_filter: int64 = since(1, default=-1)  # those that run for longer than this many ms, -1: any (KIP-994)
    # An RE2 expression for the whole id; null or empty: any (KIP-1152).
    transactional_id_pattern: string | None = since(2, default=None)


class ListTransactionsResponse(Response, api=LIST_TRANSACTIONS):
    """The transactions that pass, of this coordinator only."""

    class Transaction(Struct):
        """One transaction."""

        transactional_id: TransactionalId
        producer_id: ProducerId
        transaction_state: string

    throttle_time_ms: ThrottleTime
    error_code: Error
    unknown_state_filters: array[string]  # those of the request that are no states
    transaction_states: array[Transaction]
