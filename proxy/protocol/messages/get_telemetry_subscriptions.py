"""GetTelemetrySubscriptions (key 71): which metrics of itself a client is to send, and how often (KIP-714).

A broker identifies a client by its connection: if many clients share one, their push intervals are wrong.
"""

from proxy.protocol.api import GET_TELEMETRY_SUBSCRIPTIONS
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, ThrottleTime, array, int8, int32, string, uuid


class GetTelemetrySubscriptionsRequest(Request, api=GET_TELEMETRY_SUBSCRIPTIONS):
    """The client that asks."""

    client_instance_id: uuid  # zero in the first request: the broker then makes one


class GetTelemetrySubscriptionsResponse(Response, api=GET_TELEMETRY_SUBSCRIPTIONS):
    """What the client is to send."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    client_instance_id: uuid
    subscription_id: int32
    accepted_compression_types: array[int8]  # in order of preference; the codes are those of record batches
    push_interval_ms: int32
    telemetry_max_bytes: int32
    delta_temporality: bool  # send differences, not totals
    requested_metrics: array[string]  # prefixes of names; a lone empty one: all; none: nothing is to be sent
