"""ListConfigResources (key 74): the names of all resources that have configs, by type (KIP-1142).

It was ListClientMetricsResources up to 4.0 (KIP-714), and v0 still lists nothing else.
"""

from proxy.protocol.api import LIST_CONFIG_RESOURCES
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ResourceName, ThrottleTime, array, int8


class ListConfigResourcesRequest(Request, api=LIST_CONFIG_RESOURCES):
    """The types to list."""

    # 2: topic, 4: broker, 8: broker logger, 16: client metrics, 32: group; none: all.
    resource_types: array[int8] = since(1)


class ListConfigResourcesResponse(Response, api=LIST_CONFIG_RESOURCES):
    """The resources."""

    class Resource(Struct):
        """One resource."""

        resource_name: ResourceName
        resource_type: int8 = since(1, default=16)

    throttle_time_ms: ThrottleTime
    error_code: Error
    config_resources: array[Resource]
