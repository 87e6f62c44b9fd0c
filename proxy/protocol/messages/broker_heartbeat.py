"""BrokerHeartbeat (key 63): a broker tells the controller that it lives (KIP-631).

It also says whether the broker wants to be fenced, or to shut down once other brokers lead its partitions.
"""

from proxy.protocol.api import BROKER_HEARTBEAT
from proxy.protocol.schema import Request, Response, field, tagged
from proxy.protocol.wire import BrokerId, Error, ThrottleTime, array, int64, uuid


class BrokerHeartbeatRequest(Request, api=BROKER_HEARTBEAT):
    """A sign of life."""

    broker_id: BrokerId
    broker_epoch: int64 = field(default=-1)
    current_metadata_offset: int64  # how far the broker has read the metadata log
    want_fence: bool
    want_shut_down: bool
    offline_log_dirs: array[uuid] = tagged(0, 1)  # directory ids (KIP-858)
    # Directories that take no new replicas (KIP-1066); null: unchanged.
    cordoned_log_dirs: array[uuid] | None = tagged(1, 2, default=None)


class BrokerHeartbeatResponse(Response, api=BROKER_HEARTBEAT):
    """What the controller thinks of the broker."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    is_caught_up: bool
    is_fenced: bool = field(default=True)
    should_shut_down: bool
