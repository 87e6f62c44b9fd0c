"""GetTelemetrySubscriptions (key 71): DOC"""

from proxy.protocol.api import GET_TELEMETRY_SUBSCRIPTIONS
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, ThrottleTime, array, int8, int32, string, uuid


class GetTelemetrySubscriptionsRequest(Request, api=GET_TELEMETRY_SUBSCRIPTIONS):
    """DOC"""

    client_instance_id: uuid


class GetTelemetrySubscriptionsResponse(Response, api=GET_TELEMETRY_SUBSCRIPTIONS):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
    client_instance_id: uuid
    subscription_id: int32
    accepted_compression_types: array[int8]
    push_interval_ms: int32
    telemetry_max_bytes: int32
    delta_temporality: bool
    requested_metrics: array[string]
