"""DescribeClientQuotas (key 48): DOC"""

from proxy.protocol.api import DESCRIBE_CLIENT_QUOTAS
from proxy.protocol.schema import Request, Response, Struct
from proxy.protocol.wire import Error, ErrorMessage, ThrottleTime, array, float64, int8, string


class DescribeClientQuotasRequest(Request, api=DESCRIBE_CLIENT_QUOTAS):
    """DOC"""

    class ComponentData(Struct):
        """DOC"""

        entity_type: string
        match_type: int8
        match: string | None

    components: array[ComponentData]
    strict: bool


class DescribeClientQuotasResponse(Response, api=DESCRIBE_CLIENT_QUOTAS):
    """DOC"""

    class EntryData(Struct):
        """DOC"""

        class EntityData(Struct):
            """DOC"""

            entity_type: string
            entity_name: string | None

        class ValueData(Struct):
            """DOC"""

            key: string
            value: float64

        entity: array[EntityData]
        values: array[ValueData]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
    entries: array[EntryData] | None
