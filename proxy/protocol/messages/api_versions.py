"""ApiVersions (key 18): DOC"""

from proxy.protocol.api import API_VERSIONS
from proxy.protocol.schema import Request, Response, Struct, since, tagged
from proxy.protocol.wire import BrokerId, ClusterId, Error, ThrottleTime, array, int16, int64, string


class ApiVersionsRequest(Request, api=API_VERSIONS):
    """DOC"""

    client_software_name: string = since(3)
    client_software_version: string = since(3)
    cluster_id: ClusterId | None = since(5, default=None)
    node_id: BrokerId = since(5, default=-1)


class ApiVersionsResponse(Response, api=API_VERSIONS):
    """DOC"""

    class ApiVersion(Struct):
        """DOC"""

        api_key: int16
        min_version: int16
        max_version: int16

    class SupportedFeatureKey(Struct):
        """DOC"""

        name: string
        min_version: int16
        max_version: int16

    class FinalizedFeatureKey(Struct):
        """DOC"""

        name: string
        max_version_level: int16
        min_version_level: int16

    error_code: Error
    api_keys: array[ApiVersion]
    throttle_time_ms: ThrottleTime = since(1)
    supported_features: array[SupportedFeatureKey] = tagged(0, 3)
    finalized_features_epoch: int64 = tagged(1, 3, default=-1)
    finalized_features: array[FinalizedFeatureKey] = tagged(2, 3)
    zk_migration_ready: bool = tagged(3, 3)
