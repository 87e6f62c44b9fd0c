"""AddOffsetsToTxn (key 25): a transaction will commit offsets of a group (KIP-98).

Clients that know KIP-890 leave it out: TxnOffsetCommit v5 and later add the group by themselves.
"""

from proxy.protocol.api import ADD_OFFSETS_TO_TXN
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, GroupId, ProducerId, ThrottleTime, TransactionalId, int16


class AddOffsetsToTxnRequest(Request, api=ADD_OFFSETS_TO_TXN):
    """Add the offsets of this group."""

    transactional_id: TransactionalId
    producer_id: ProducerId
    producer_epoch: int16
    group_id: GroupId


class AddOffsetsToTxnResponse(Response, api=ADD_OFFSETS_TO_TXN):
    """Whether they were added."""

    throttle_time_ms: ThrottleTime
    error_code: Error
