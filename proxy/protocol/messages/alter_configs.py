"""AlterConfigs (key 33): replace all settings of topics and brokers (KIP-133).

Settings that the request does not name fall back to their defaults. IncrementalAlterConfigs leaves them alone.
Resource types are those of DescribeConfigs.
"""

from proxy.protocol.api import ALTER_CONFIGS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, ErrorMessage, ResourceName, ThrottleTime, array, int8, string


class AlterConfigsRequest(Request, api=ALTER_CONFIGS):
    """These are the settings from now on."""

    class Resource(Struct):
        """A resource and its settings."""

        class Config(Struct):
            """A setting."""

            name: string
            value: string | None

        resource_type: int8
        resource_name: ResourceName
        configs: array[Config]

    resources: array[Resource]
    validate_only: bool


class AlterConfigsResponse(Response, api=ALTER_CONFIGS):
    """Whose settings were replaced."""

    class Resource(Struct):
        """Whether the settings of one resource were replaced."""

        error_code: Error
        error_message: ErrorMessage | None
        resource_type: int8
        resource_name: ResourceName

    throttle_time_ms: ThrottleTime
    responses: array[Resource] = field(mirrors="resources")
