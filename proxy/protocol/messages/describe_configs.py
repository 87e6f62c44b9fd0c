"""DescribeConfigs (key 32): the settings of topics, brokers, groups and clients (KIP-133).

v1 tells where a value comes from and what else it could be (KIP-226), v3 its type and documentation (KIP-569).
A broker's settings name its own addresses: `advertised.listeners`, `controller.quorum.voters` and others.
Resource types: 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group.
"""

from proxy.protocol.api import DESCRIBE_CONFIGS
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import Error, ErrorMessage, ResourceName, ThrottleTime, array, int8, string


class DescribeConfigsRequest(Request, api=DESCRIBE_CONFIGS):
    """What are the settings of these resources?"""

    class Resource(Struct):
        """A resource to describe."""

        resource_type: int8
        resource_name: ResourceName  # of a broker its id; empty: the default of all brokers
        configuration_keys: array[string] | None  # null: all

    resources: array[Resource]
    include_synonyms: bool = since(1)
    include_documentation: bool = since(3)


class DescribeConfigsResponse(Response, api=DESCRIBE_CONFIGS):
    """The settings."""

    class Result(Struct):
        """A resource of the request."""

        class Config(Struct):
            """A setting."""

            class Synonym(Struct):
                """Another setting that would be in force if those before it were not."""

                name: string
                value: string | None  # null: sensitive
                source: int8

            name: string
            value: string | None  # null: sensitive
            read_only: bool
            config_source: int8 = since(1, default=-1)  # 5: Kafka's default
            is_default: bool = until(0)
            is_sensitive: bool
            synonyms: array[Synonym] = since(1)
            config_type: int8 = since(3)
            documentation: string | None = since(3)

        error_code: Error
        error_message: ErrorMessage | None
        resource_type: int8
        resource_name: ResourceName
        configs: array[Config]

    throttle_time_ms: ThrottleTime
    results: array[Result] = field(mirrors="resources")
