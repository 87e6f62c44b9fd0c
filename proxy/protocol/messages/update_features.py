"""UpdateFeatures (key 57): DOC"""

from proxy.protocol.api import UPDATE_FEATURES
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import Error, ErrorMessage, ThrottleTime, array, int8, int16, int32, string


class UpdateFeaturesRequest(Request, api=UPDATE_FEATURES):
    """DOC"""

    class FeatureUpdateKey(Struct):
        """DOC"""

        feature: string
        max_version_level: int16
        allow_downgrade: bool = until(0)
        upgrade_type: int8 = since(1, default=1)

    timeout_ms: int32 = since(0, default=60000)
    feature_updates: array[FeatureUpdateKey]
    validate_only: bool = since(1)


class UpdateFeaturesResponse(Response, api=UPDATE_FEATURES):
    """DOC"""

    class UpdatableFeatureResult(Struct):
        """DOC"""

        feature: string
        error_code: Error
        error_message: ErrorMessage | None

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
    results: array[UpdatableFeatureResult] = until(1)
