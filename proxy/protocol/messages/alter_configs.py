"""AlterConfigs (key 33): DOC"""

from proxy.protocol.api import ALTER_CONFIGS
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import Error, ErrorMessage, ResourceName, ThrottleTime, array, int8, string


class AlterConfigsRequest(Request, api=ALTER_CONFIGS):
    """DOC"""

    class AlterConfigsResource(Struct):
        """DOC"""

        class AlterableConfig(Struct):
            """DOC"""

            name: string
            value: string | None

        resource_type: int8
        resource_name: ResourceName
        configs: array[AlterableConfig]

    resources: array[AlterConfigsResource]
    validate_only: bool


class AlterConfigsResponse(Response, api=ALTER_CONFIGS):
    """DOC"""

    class AlterConfigsResourceResponse(Struct):
        """DOC"""

        error_code: Error
        error_message: ErrorMessage | None
        resource_type: int8
        resource_name: ResourceName

    throttle_time_ms: ThrottleTime
    responses: array[AlterConfigsResourceResponse]
