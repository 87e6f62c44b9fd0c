"""ControllerRegistration (key 70): a controller makes itself known to the active one when it starts (KIP-919)."""

from proxy.protocol.api import CONTROLLER_REGISTRATION
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import BrokerId, Error, ErrorMessage, Host, Port16, ThrottleTime, array, int16, string, uuid


class ControllerRegistrationRequest(Request, api=CONTROLLER_REGISTRATION):
    """A controller, where it listens and what it supports."""

    class Listener(Struct):
        """Where the controller listens."""

        name: string  # of the listener
        host: Host
        port: Port16
        security_protocol: int16  # 0: PLAINTEXT, 1: SSL, 2: SASL_PLAINTEXT, 3: SASL_SSL

    class Feature(Struct):
        """A feature's version levels that the controller supports."""

        name: string
        min_supported_version: int16
        max_supported_version: int16

    controller_id: BrokerId
    incarnation_id: uuid  # new with each start of the process
    zk_migration_ready: bool  # whether all is set to move a ZooKeeper cluster to KRaft (KIP-866)
    listeners: array[Listener]
    features: array[Feature]


class ControllerRegistrationResponse(Response, api=CONTROLLER_REGISTRATION):
    """Whether it is registered."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
