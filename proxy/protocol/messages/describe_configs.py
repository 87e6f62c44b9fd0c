"""DescribeConfigs (key 32): DOC"""

from proxy.protocol.api import DESCRIBE_CONFIGS
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import Error, ErrorMessage, ResourceName, ThrottleTime, array, int8, string


class DescribeConfigsRequest(Request, api=DESCRIBE_CONFIGS):
    """DOC"""

    class DescribeConfigsResource(Struct):
        """DOC"""

        resource_type: int8
        resource_name: ResourceName
        configuration_keys: array[string] | None

    resources: array[DescribeConfigsResource]
    include_synonyms: bool = since(1)
    include_documentation: bool = since(3)


class DescribeConfigsResponse(Response, api=DESCRIBE_CONFIGS):
    """DOC"""

    class DescribeConfigsResult(Struct):
        """DOC"""

        class DescribeConfigsResourceResult(Struct):
            """DOC"""

            class DescribeConfigsSynonym(Struct):
                """DOC"""

                name: string
                value: string | None
                source: int8

            name: string
            value: string | None
            read_only: bool
            config_source: int8 = since(1, default=-1)
            is_default: bool = until(0)
            is_sensitive: bool
            synonyms: array[DescribeConfigsSynonym] = since(1)
            config_type: int8 = since(3)
            documentation: string | None = since(3)

        error_code: Error
        error_message: ErrorMessage | None
        resource_type: int8
        resource_name: ResourceName
        configs: array[DescribeConfigsResourceResult]

    throttle_time_ms: ThrottleTime
    results: array[DescribeConfigsResult]
