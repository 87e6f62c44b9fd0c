"""EndTxn (key 26): commit or abort a transaction (KIP-98).

From v5 on every transaction gets a new epoch, which the response tells (KIP-890).
"""

from proxy.protocol.api import END_TXN
from proxy.protocol.schema import Request, Response, since
from proxy.protocol.wire import Error, ProducerId, ThrottleTime, TransactionalId, int16


class EndTxnRequest(Request, api=END_TXN):
    """The transaction is over."""

    transactional_id: TransactionalId
    producer_id: ProducerId
    producer_epoch: int16
    committed: bool  # false: abort


class EndTxnResponse(Response, api=END_TXN):
    """Whether it is decided."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    producer_id: ProducerId = since(5, default=-1)  # a new one where the epochs are used up
    producer_epoch: int16 = since(5, default=-1)
