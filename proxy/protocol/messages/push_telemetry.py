"""PushTelemetry (key 72): a client's metrics of itself, as GetTelemetrySubscriptions asked for them (KIP-714)."""

from proxy.protocol.api import PUSH_TELEMETRY
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, ThrottleTime, int8, int32, uuid


class PushTelemetryRequest(Request, api=PUSH_TELEMETRY):
    """Metrics."""

    client_instance_id: uuid
    subscription_id: int32
    terminating: bool  # the client's last
    compression_type: int8  # 0: none, 1: gzip, 2: snappy, 3: lz4, 4: zstd
    metrics: bytes  # OpenTelemetry's MetricsData, compressed


class PushTelemetryResponse(Response, api=PUSH_TELEMETRY):
    """Whether they were taken."""

    throttle_time_ms: ThrottleTime
    error_code: Error
