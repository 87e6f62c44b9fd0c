"""IncrementalAlterConfigs (key 44): change some settings of resources, and leave the others alone (KIP-339).

Resource types are those of DescribeConfigs.
"""

from proxy.protocol.api import INCREMENTAL_ALTER_CONFIGS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, ErrorMessage, ResourceName, ThrottleTime, array, int8, string


class IncrementalAlterConfigsRequest(Request, api=INCREMENTAL_ALTER_CONFIGS):
    """Change these settings."""

    class Resource(Struct):
        """A resource whose settings change."""

        class Config(Struct):
            """A change of one setting."""

            name: string
            config_operation: int8  # 0: set, 1: delete, 2: append to a list, 3: subtract from it
            value: string | None

        resource_type: int8
        resource_name: ResourceName
        configs: array[Config]

    resources: array[Resource]
    validate_only: bool


class IncrementalAlterConfigsResponse(Response, api=INCREMENTAL_ALTER_CONFIGS):
    """Whose settings were changed."""

    class Resource(Struct):
        """Whether the settings of one resource were changed."""

        error_code: Error
        error_message: ErrorMessage | None
        resource_type: int8
        resource_name: ResourceName

    throttle_time_ms: ThrottleTime
    responses: array[Resource] = field(mirrors="resources")
