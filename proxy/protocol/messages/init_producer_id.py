"""InitProducerId (key 22): an id and an epoch for a producer that is idempotent or transactional (KIP-98).

With a transactional id it also fences older producers and ends what they left open. v3 lets a producer raise its own
epoch after an error (KIP-360). v6 is for two-phase commit (KIP-939) and only where unstable versions are enabled.
"""

from proxy.protocol.api import INIT_PRODUCER_ID
from proxy.protocol.schema import Request, Response, field, since
from proxy.protocol.wire import Error, ProducerId, ThrottleTime, TransactionalId, int16, int32


class InitProducerIdRequest(Request, api=INIT_PRODUCER_ID):
    """Who am I?"""

    transactional_id: TransactionalId | None  # null: idempotent only
    transaction_timeout_ms: int32
    producer_id: ProducerId = since(3, default=-1)  # -1: none yet
    producer_epoch: int16 = since(3, default=-1)
    enable_2pc: bool = since(6, json="enable2Pc")
    keep_prepared_txn: bool = since(6)


class InitProducerIdResponse(Response, api=INIT_PRODUCER_ID):
    """You are this producer, in this epoch."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    producer_id: ProducerId = field(default=-1)
    producer_epoch: int16
    ongoing_txn_producer_id: ProducerId = since(6, default=-1)
    ongoing_txn_producer_epoch: int16 = since(6, default=-1)
