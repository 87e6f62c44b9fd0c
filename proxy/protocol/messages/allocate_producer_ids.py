"""AllocateProducerIds (key 67): a block of producer ids for a broker to give to producers (KIP-730)."""

from proxy.protocol.api import ALLOCATE_PRODUCER_IDS
from proxy.protocol.schema import Request, Response, field
from proxy.protocol.wire import BrokerId, Error, ProducerId, ThrottleTime, int32, int64


class AllocateProducerIdsRequest(Request, api=ALLOCATE_PRODUCER_IDS):
    """The broker that asks."""

    broker_id: BrokerId
    broker_epoch: int64 = field(default=-1)  # from its registration


class AllocateProducerIdsResponse(Response, api=ALLOCATE_PRODUCER_IDS):
    """A block of ids that nobody else has."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    producer_id_start: ProducerId
    producer_id_len: int32  # how many ids the block has
