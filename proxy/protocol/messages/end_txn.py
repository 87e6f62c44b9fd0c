"""EndTxn (key 26): DOC"""

from proxy.protocol.api import END_TXN
from proxy.protocol.schema import Request, Response, since
from proxy.protocol.wire import Error, ProducerId, ThrottleTime, TransactionalId, int16


class EndTxnRequest(Request, api=END_TXN):
    """DOC"""

    transactional_id: TransactionalId
    producer_id: ProducerId
    producer_epoch: int16
    committed: bool


class EndTxnResponse(Response, api=END_TXN):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
    producer_id: ProducerId = since(5, default=-1)
    producer_epoch: int16 = since(5, default=-1)
