"""UnregisterBroker (key 64): forget a broker that will not come back (KIP-631).

It was DecommissionBroker before its release.
"""

from proxy.protocol.api import UNREGISTER_BROKER
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, ThrottleTime


class UnregisterBrokerRequest(Request, api=UNREGISTER_BROKER):
    """The broker to forget."""

    broker_id: BrokerId


class UnregisterBrokerResponse(Response, api=UNREGISTER_BROKER):
    """Whether it is forgotten."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
