"""AlterPartition (key 56): DOC"""

from proxy.protocol.api import ALTER_PARTITION
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import BrokerId, Error, ThrottleTime, TopicId, TopicName, array, int8, int32, int64


class AlterPartitionRequest(Request, api=ALTER_PARTITION):
    """DOC"""

    class TopicData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            class BrokerState(Struct):
                """DOC"""

                broker_id: BrokerId
                broker_epoch: int64 = since(0, default=-1)

            partition_index: int32
            leader_epoch: int32
            new_isr: array[BrokerId] = until(2)
            new_isr_with_epochs: array[BrokerState] = since(3)
            leader_recovery_state: int8 = since(1)
            partition_epoch: int32

        topic_id: TopicId = since(2)
        topic_name: TopicName = until(1)
        partitions: array[PartitionData]

    broker_id: BrokerId
    broker_epoch: int64 = since(0, default=-1)
    topics: array[TopicData]


class AlterPartitionResponse(Response, api=ALTER_PARTITION):
    """DOC"""

    class TopicData(Struct):
        """DOC"""

        class PartitionData(Struct):
            """DOC"""

            partition_index: int32
            error_code: Error
            leader_id: BrokerId
            leader_epoch: int32
            isr: array[BrokerId]
            leader_recovery_state: int8 = since(1)
            partition_epoch: int32

        topic_id: TopicId = since(2)
        topic_name: TopicName = until(1)
        partitions: array[PartitionData]

    throttle_time_ms: ThrottleTime
    error_code: Error
    topics: array[TopicData]
