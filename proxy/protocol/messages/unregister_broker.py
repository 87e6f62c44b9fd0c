"""UnregisterBroker (key 64): DOC"""

from proxy.protocol.api import UNREGISTER_BROKER
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, ThrottleTime


class UnregisterBrokerRequest(Request, api=UNREGISTER_BROKER):
    """DOC"""

    broker_id: BrokerId


class UnregisterBrokerResponse(Response, api=UNREGISTER_BROKER):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
