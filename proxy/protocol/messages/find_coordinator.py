"""FindCoordinator (key 10): DOC"""

from proxy.protocol.api import FIND_COORDINATOR
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import BrokerId, CoordinatorKey, Error, ErrorMessage, Host, Port, ThrottleTime, array, int8


class FindCoordinatorRequest(Request, api=FIND_COORDINATOR):
    """DOC"""

    key: CoordinatorKey = until(3)
    key_type: int8 = since(1)
    coordinator_keys: array[CoordinatorKey] = since(4)


class FindCoordinatorResponse(Response, api=FIND_COORDINATOR):
    """DOC"""

    class Coordinator(Struct):
        """DOC"""

        key: CoordinatorKey
        node_id: BrokerId
        host: Host
        port: Port
        error_code: Error
        error_message: ErrorMessage | None

    throttle_time_ms: ThrottleTime = since(1)
    error_code: Error = until(3)
    error_message: ErrorMessage | None = since(1, 3)
    node_id: BrokerId = until(3)
    host: Host = until(3)
    port: Port = until(3)
    coordinators: array[Coordinator] = since(4)
