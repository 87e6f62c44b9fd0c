"""FindCoordinator (key 10): the broker that keeps a group, a transactional id or a share partition.

Once called ConsumerMetadata and GroupCoordinator: v0 knows groups only. v1 brought transactions (KIP-98), v4 many keys
at once in another shape (KIP-699), v6 share partitions (KIP-932), whose keys are `group:topic id:partition`.
Where the error code is not 0, node id and port are -1 and the host is empty.
"""

from proxy.protocol.api import FIND_COORDINATOR
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import BrokerId, CoordinatorKey, Error, ErrorMessage, Host, Port, ThrottleTime, array, int8


class FindCoordinatorRequest(Request, api=FIND_COORDINATOR):
    """Who coordinates these keys?"""

    key: CoordinatorKey = until(3)
    key_type: int8 = since(1)  # 0: group, 1: transactional id, 2: share partition (v6)
    coordinator_keys: array[CoordinatorKey] = since(4)


class FindCoordinatorResponse(Response, api=FIND_COORDINATOR):
    """The coordinators, and where they listen."""

    class Coordinator(Struct):
        """The coordinator of one key."""

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
    coordinators: array[Coordinator] = since(4, mirrors="coordinator_keys")
