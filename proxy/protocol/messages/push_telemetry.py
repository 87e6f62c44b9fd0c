"""PushTelemetry (key 72): DOC"""

from proxy.protocol.api import PUSH_TELEMETRY
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, ThrottleTime, int8, int32, uuid


class PushTelemetryRequest(Request, api=PUSH_TELEMETRY):
    """DOC"""

    client_instance_id: uuid
    subscription_id: int32
    terminating: bool
    compression_type: int8
    metrics: bytes


class PushTelemetryResponse(Response, api=PUSH_TELEMETRY):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
