"""ApiVersions (key 18): which APIs a broker speaks, in which versions.

It is asked before the client knows anything, so the response always travels under header v0, and an unknown version is
answered in v0 with UNSUPPORTED_VERSION and the versions of this one API (KIP-511). 0.10.0 brought it; brokers before
close the connection on it, or never answer. v3 names the client's software and tells the cluster's features (KIP-584),
of which up to v3 those that start at 0 are left out (KAFKA-17011). v5 names the broker
that the client expects: a broker with another cluster or node id answers REBOOTSTRAP_REQUIRED (KIP-1242).
"""

from proxy.protocol.api import API_VERSIONS
from proxy.protocol.schema import Request, Response, Struct, since, tagged
from proxy.protocol.wire import BrokerId, ClusterId, Error, ThrottleTime, array, int16, int64, string


class ApiVersionsRequest(Request, api=API_VERSIONS):
    """Which APIs and versions do you know?"""

    client_software_name: string = since(3)  # letters, digits, dots and dashes; brokers refuse anything else
    client_software_version: string = since(3)
    cluster_id: ClusterId | None = since(5, default=None)  # null: the client does not know it yet
    node_id: BrokerId = since(5, default=-1)


class ApiVersionsResponse(Response, api=API_VERSIONS):
    """The APIs and the features of this cluster."""

    class ApiVersion(Struct):
        """An API and the versions of it that this broker takes."""

        api_key: int16
        min_version: int16
        max_version: int16

    class SupportedFeature(Struct):
        """A feature that the broker could have, with the levels it knows."""

        name: string
        min_version: int16
        max_version: int16

    class FinalizedFeature(Struct):
        """A feature that is in force in the whole cluster, with its level."""

        name: string
        max_version_level: int16
        min_version_level: int16

    error_code: Error
    api_keys: array[ApiVersion]
    throttle_time_ms: ThrottleTime = since(1)
    supported_features: array[SupportedFeature] = tagged(0, 3)
    finalized_features_epoch: int64 = tagged(1, 3, default=-1)  # grows with every change; -1: unknown
    finalized_features: array[FinalizedFeature] = tagged(2, 3)
    zk_migration_ready: bool = tagged(3, 3)  # of a controller on the way from ZooKeeper to KRaft
