"""BrokerRegistration (key 62): a broker makes itself known to the controller when it starts (KIP-631)."""

from proxy.protocol.api import BROKER_REGISTRATION
from proxy.protocol.schema import Request, Response, Struct, field, since
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
    """A broker, where it listens and what it supports."""

    class Listener(Struct):
        """Where the broker listens."""

        name: string  # of the listener
        host: Host
        port: Port16
        security_protocol: int16  # 0: PLAINTEXT, 1: SSL, 2: SASL_PLAINTEXT, 3: SASL_SSL

    class Feature(Struct):
        """A feature's version levels that the broker supports."""

        name: string
        min_supported_version: int16
        max_supported_version: int16

    broker_id: BrokerId
    cluster_id: ClusterId
    incarnation_id: uuid  # new with each start of the process
    listeners: array[Listener]
    features: array[Feature]
    rack: string | None
    is_migrating_zk_broker: bool = since(1)  # a broker of a ZooKeeper cluster that moves to KRaft (KIP-866)
    log_dirs: array[uuid] = since(2)  # directory ids (KIP-858)
    previous_broker_epoch: int64 = since(3, default=-1)  # of the last clean shutdown, -1: not known (KIP-966)


class BrokerRegistrationResponse(Response, api=BROKER_REGISTRATION):
    """The epoch under which the broker now is registered."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    broker_epoch: int64 = field(default=-1)  # -1: not registered
