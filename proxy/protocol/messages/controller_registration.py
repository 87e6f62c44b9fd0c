"""ControllerRegistration (key 70): DOC"""

from proxy.protocol.api import CONTROLLER_REGISTRATION
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, Host, Port16, ThrottleTime, array, int16, string, uuid


class ControllerRegistrationRequest(Request, api=CONTROLLER_REGISTRATION):
    """DOC"""

    class Listener(Struct):
        """DOC"""

        name: string
        host: Host
        port: Port16
        security_protocol: int16

    class Feature(Struct):
        """DOC"""

        name: string
        min_supported_version: int16
        max_supported_version: int16

    controller_id: BrokerId
    incarnation_id: uuid
    zk_migration_ready: bool
    listeners: array[Listener]
    features: array[Feature]


class ControllerRegistrationResponse(Response, api=CONTROLLER_REGISTRATION):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
