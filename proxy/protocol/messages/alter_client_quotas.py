"""AlterClientQuotas (key 49): DOC"""

from proxy.protocol.api import ALTER_CLIENT_QUOTAS
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import Error, ErrorMessage, ThrottleTime, array, float64, string


class AlterClientQuotasRequest(Request, api=ALTER_CLIENT_QUOTAS):
    """DOC"""

    class EntryData(Struct):
        """DOC"""

        class EntityData(Struct):
            """DOC"""

            entity_type: string
            entity_name: string | None

        class OpData(Struct):
            """DOC"""

            key: string
            value: float64
            remove: bool

        entity: array[EntityData]
        ops: array[OpData]

    entries: array[EntryData]
    validate_only: bool


class AlterClientQuotasResponse(Response, api=ALTER_CLIENT_QUOTAS):
    """DOC"""

    class EntryData(Struct):
        """DOC"""

        class EntityData(Struct):
            """DOC"""

            entity_type: string
            entity_name: string | None

        error_code: Error
        error_message: ErrorMessage | None
        entity: array[EntityData]

    throttle_time_ms: ThrottleTime
    entries: array[EntryData]
