"""UnregisterController (key 94): forget a controller that will not come back (KIP-1312)."""

from proxy.protocol.api import UNREGISTER_CONTROLLER
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, ThrottleTime


class UnregisterControllerRequest(Request, api=UNREGISTER_CONTROLLER):
    """The controller to forget."""

    controller_id: BrokerId


class UnregisterControllerResponse(Response, api=UNREGISTER_CONTROLLER):
    """Whether it is forgotten."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
