"""ListConfigResources (key 74): DOC"""

from proxy.protocol.api import LIST_CONFIG_RESOURCES
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ResourceName, ThrottleTime, array, int8


class ListConfigResourcesRequest(Request, api=LIST_CONFIG_RESOURCES):
    """DOC"""

    resource_types: array[int8] = since(1)


class ListConfigResourcesResponse(Response, api=LIST_CONFIG_RESOURCES):
    """DOC"""

    class ConfigResource(Struct):
        """DOC"""

        resource_name: ResourceName
        resource_type: int8 = since(1, default=16)

    throttle_time_ms: ThrottleTime
    error_code: Error
    config_resources: array[ConfigResource]
