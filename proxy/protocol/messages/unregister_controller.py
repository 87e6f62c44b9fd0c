"""UnregisterController (key 94): DOC"""

from proxy.protocol.api import UNREGISTER_CONTROLLER
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, ThrottleTime


class UnregisterControllerRequest(Request, api=UNREGISTER_CONTROLLER):
    """DOC"""

    controller_id: BrokerId


class UnregisterControllerResponse(Response, api=UNREGISTER_CONTROLLER):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
