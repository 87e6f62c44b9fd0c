"""UpdateFeatures (key 57): raise or lower the finalized version levels of features (KIP-584).

From v2 on all features change or none does, and there is no result for each.
"""

from proxy.protocol.api import UPDATE_FEATURES
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import Error, ErrorMessage, ThrottleTime, array, int8, int16, int32, string


class UpdateFeaturesRequest(Request, api=UPDATE_FEATURES):
    """New version levels."""

    class FeatureUpdate(Struct):
        """One feature's new level."""

        feature: string  # such as metadata.version
        max_version_level: int16  # below 1: remove the feature
        allow_downgrade: bool = until(0)
        upgrade_type: int8 = since(1, default=1)  # 1: upgrade, 2: safe downgrade, 3: unsafe downgrade

    timeout_ms: int32 = field(default=60000)
    feature_updates: array[FeatureUpdate]
    validate_only: bool = since(1)


class UpdateFeaturesResponse(Response, api=UPDATE_FEATURES):
    """Whether the levels were changed."""

    class Result(Struct):
        """One feature's result."""

        feature: string
        error_code: Error
        error_message: ErrorMessage | None

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
    results: array[Result] = until(1, mirrors="feature_updates")
