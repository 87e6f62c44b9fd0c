"""DescribeCluster (key 60): DOC"""

from proxy.protocol.api import DESCRIBE_CLUSTER
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import (
    AuthorizedOperations,
    BrokerId,
    ClusterId,
    Error,
    ErrorMessage,
    Host,
    Port,
    ThrottleTime,
    array,
    int8,
    string,
)


class DescribeClusterRequest(Request, api=DESCRIBE_CLUSTER):
    """DOC"""

    include_cluster_authorized_operations: bool
    endpoint_type: int8 = since(1, default=1)
    include_fenced_brokers: bool = since(2)


class DescribeClusterResponse(Response, api=DESCRIBE_CLUSTER):
    """DOC"""

    class DescribeClusterBroker(Struct):
        """DOC"""

        broker_id: BrokerId
        host: Host
        port: Port
        rack: string | None = since(0, default=None)
        is_fenced: bool = since(2)

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = since(0, default=None)
    endpoint_type: int8 = since(1, default=1)
    cluster_id: ClusterId
    controller_id: BrokerId = since(0, default=-1)
    brokers: array[DescribeClusterBroker]
    cluster_authorized_operations: AuthorizedOperations = since(0, default=-2147483648)
