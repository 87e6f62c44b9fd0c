"""BrokerRegistration (key 62): DOC"""

from proxy.protocol.api import BROKER_REGISTRATION
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import (
    BrokerId,
    ClusterId,
    Error,
    Host,
    Port16,
    ThrottleTime,
    array,
    int16,
    int64,
    string,
    uuid,
)


class BrokerRegistrationRequest(Request, api=BROKER_REGISTRATION):
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

    broker_id: BrokerId
    cluster_id: ClusterId
    incarnation_id: uuid
    listeners: array[Listener]
    features: array[Feature]
    rack: string | None
    is_migrating_zk_broker: bool = since(1)
    log_dirs: array[uuid] = since(2)
    previous_broker_epoch: int64 = since(3, default=-1)


class BrokerRegistrationResponse(Response, api=BROKER_REGISTRATION):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
    broker_epoch: int64 = since(0, default=-1)
