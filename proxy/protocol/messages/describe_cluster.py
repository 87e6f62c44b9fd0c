"""DescribeCluster (key 60): the cluster's id, its brokers and its controller (KIP-700).

From v1 on the same question can be put for controllers, to a controller: `brokers` then lists controllers (KIP-919).
"""

from proxy.protocol.api import DESCRIBE_CLUSTER
from proxy.protocol.schema import Request, Response, Struct, field, since
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
    """What to describe."""

    include_cluster_authorized_operations: bool
    endpoint_type: int8 = since(1, default=1)  # 1: brokers, 2: controllers
    include_fenced_brokers: bool = since(2)  # those that are registered, but not (yet, or any more) in use (KIP-1073)


class DescribeClusterResponse(Response, api=DESCRIBE_CLUSTER):
    """The cluster as one node knows it."""

    class Broker(Struct):
        """A broker or controller, and where it listens."""

        broker_id: BrokerId
        host: Host
        port: Port
        rack: string | None = field(default=None)
        is_fenced: bool = since(2)

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = field(default=None)
    endpoint_type: int8 = since(1, default=1)  # 1: brokers, 2: controllers
    cluster_id: ClusterId
    controller_id: BrokerId = field(default=-1)  # brokers of a KRaft cluster name any live broker here
    brokers: array[Broker]
    cluster_authorized_operations: AuthorizedOperations = field(default=-(2**31))  # the default: not asked for
