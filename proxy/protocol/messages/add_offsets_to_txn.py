"""AddOffsetsToTxn (key 25): DOC"""

from proxy.protocol.api import ADD_OFFSETS_TO_TXN
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, GroupId, ProducerId, ThrottleTime, TransactionalId, int16


class AddOffsetsToTxnRequest(Request, api=ADD_OFFSETS_TO_TXN):
    """DOC"""

    transactional_id: TransactionalId
    producer_id: ProducerId
    producer_epoch: int16
    group_id: GroupId


class AddOffsetsToTxnResponse(Response, api=ADD_OFFSETS_TO_TXN):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
