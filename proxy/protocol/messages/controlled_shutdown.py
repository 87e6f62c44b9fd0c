"""ControlledShutdown (key 7): a broker asks the controller to move its leaders away before it stops.

Spoken only in clusters with ZooKeeper; gone in 4.0. v0 is the one request whose header has no client id.
"""

from proxy.protocol.api import CONTROLLED_SHUTDOWN
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import BrokerId, Error, PartitionIndex, TopicName, array, int64


class ControlledShutdownRequest(Request, api=CONTROLLED_SHUTDOWN):
    """I am about to stop."""

    broker_id: BrokerId
    broker_epoch: int64 = since(2, default=-1)


class ControlledShutdownResponse(Response, api=CONTROLLED_SHUTDOWN):
    """What the broker still leads: when nothing, it may stop."""

    class RemainingPartition(Struct):
        """A partition that still has to move."""

        topic_name: TopicName
        partition_index: PartitionIndex

    error_code: Error
    remaining_partitions: array[RemainingPartition]
