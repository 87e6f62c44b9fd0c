"""ControlledShutdown (key 7): DOC"""

from proxy.protocol.api import CONTROLLED_SHUTDOWN
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import BrokerId, Error, TopicName, array, int32, int64


class ControlledShutdownRequest(Request, api=CONTROLLED_SHUTDOWN):
    """DOC"""

    broker_id: BrokerId
    broker_epoch: int64 = since(2, default=-1)


class ControlledShutdownResponse(Response, api=CONTROLLED_SHUTDOWN):
    """DOC"""

    class RemainingPartition(Struct):
        """DOC"""

        topic_name: TopicName
        partition_index: int32

    error_code: Error
    remaining_partitions: array[RemainingPartition]
