"""DescribeClientQuotas (key 48): the quotas of users, client ids and addresses (KIP-546).

An entity is a set of (type, name) pairs: `user`, `client-id`, `ip`. A null name is the default entity of that type.
"""

from proxy.protocol.api import DESCRIBE_CLIENT_QUOTAS
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import Error, ErrorMessage, ThrottleTime, array, float64, int8, string


class DescribeClientQuotasRequest(Request, api=DESCRIBE_CLIENT_QUOTAS):
    """Which entities to describe: those that match all components."""

    class Component(Struct):
        """What one part of an entity must be."""

        entity_type: string  # user, client-id or ip
        match_type: int8  # 0: exactly `match`, 1: the default entity, 2: any name
        match: string | None

    components: array[Component]
    strict: bool  # leave out entities that have parts which no component names


class DescribeClientQuotasResponse(Response, api=DESCRIBE_CLIENT_QUOTAS):
    """The entities that matched, each with its quotas."""

    class Entry(Struct):
        """One entity and its quotas."""

        class Entity(Struct):
            """One part of an entity."""

            entity_type: string
            entity_name: string | None  # null: the default

        class Value(Struct):
            """One quota."""

            key: string  # such as producer_byte_rate
            value: float64

        entity: array[Entity]
        values: array[Value]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
    entries: array[Entry] | None  # null when there is an error
