"""InitProducerId (key 22): DOC"""

from proxy.protocol.api import INIT_PRODUCER_ID
from proxy.protocol.schema import Request, Response, since
from proxy.protocol.wire import Error, ProducerId, ThrottleTime, TransactionalId, int16, int32


class InitProducerIdRequest(Request, api=INIT_PRODUCER_ID):
    """DOC"""

    transactional_id: TransactionalId | None
    transaction_timeout_ms: int32
    producer_id: ProducerId = since(3, default=-1)
    producer_epoch: int16 = since(3, default=-1)
    enable2_pc: bool = since(6)
    keep_prepared_txn: bool = since(6)


class InitProducerIdResponse(Response, api=INIT_PRODUCER_ID):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
    producer_id: ProducerId = since(0, default=-1)
    producer_epoch: int16
    ongoing_txn_producer_id: ProducerId = since(6, default=-1)
    ongoing_txn_producer_epoch: int16 = since(6, default=-1)
