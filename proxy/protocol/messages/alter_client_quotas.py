"""AlterClientQuotas (key 49): set or remove the quotas of users, client ids and addresses (KIP-546)."""

from proxy.protocol.api import ALTER_CLIENT_QUOTAS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import Error, ErrorMessage, ThrottleTime, array, float64, string


class AlterClientQuotasRequest(Request, api=ALTER_CLIENT_QUOTAS):
    """Quotas to change, entity by entity."""

    class Entry(Struct):
        """One entity and what to change there."""

        class Entity(Struct):
            """One part of an entity."""

            entity_type: string  # user, client-id or ip
            entity_name: string | None  # null: the default

        class Op(Struct):
            """One change."""

            key: string  # such as producer_byte_rate
            value: float64  # ignored where the quota is removed
            remove: bool

        entity: array[Entity]
        ops: array[Op]

    entries: array[Entry]
    validate_only: bool


class AlterClientQuotasResponse(Response, api=ALTER_CLIENT_QUOTAS):
    """The result for each entity."""

    class Entry(Struct):
        """One entity's result."""

        class Entity(Struct):
            """One part of an entity."""

            entity_type: string
            entity_name: string | None  # null: the default

        error_code: Error
        error_message: ErrorMessage | None
        entity: array[Entity] = field(mirrors="entity")

    throttle_time_ms: ThrottleTime
    entries: array[Entry] = field(mirrors="entries")
