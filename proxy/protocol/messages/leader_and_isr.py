"""LeaderAndIsr (key 4): DOC"""

from proxy.protocol.api import LEADER_AND_ISR
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import BrokerId, Error, Host, Port, TopicId, TopicName, array, int8, int32, int64


class LeaderAndIsrPartitionState(Struct):
    """DOC"""

    topic_name: TopicName = until(1)
    partition_index: int32
    controller_epoch: int32
    leader: BrokerId
    leader_epoch: int32
    isr: array[BrokerId]
    partition_epoch: int32
    replicas: array[BrokerId]
    adding_replicas: array[int32] = since(3)
    removing_replicas: array[int32] = since(3)
    is_new: bool = since(1)
    leader_recovery_state: int8 = since(6)


class LeaderAndIsrRequest(Request, api=LEADER_AND_ISR):
    """DOC"""

    class LeaderAndIsrTopicState(Struct):
        """DOC"""

        topic_name: TopicName
        topic_id: TopicId = since(5)
        partition_states: array[LeaderAndIsrPartitionState]

    class LeaderAndIsrLiveLeader(Struct):
        """DOC"""

        broker_id: BrokerId
        host_name: Host
        port: Port

    controller_id: BrokerId
    is_k_raft_controller: bool = since(7)
    controller_epoch: int32
    broker_epoch: int64 = since(2, default=-1)
    type: int8 = since(5)
    ungrouped_partition_states: array[LeaderAndIsrPartitionState] = until(1)
    topic_states: array[LeaderAndIsrTopicState] = since(2)
    live_leaders: array[LeaderAndIsrLiveLeader]


class LeaderAndIsrPartitionError(Struct):
    """DOC"""

    topic_name: TopicName = until(4)
    partition_index: int32
    error_code: Error


class LeaderAndIsrResponse(Response, api=LEADER_AND_ISR):
    """DOC"""

    class LeaderAndIsrTopicError(Struct):
        """DOC"""

        topic_id: TopicId
        partition_errors: array[LeaderAndIsrPartitionError]

    error_code: Error
    partition_errors: array[LeaderAndIsrPartitionError] = until(4)
    topics: array[LeaderAndIsrTopicError] = since(5)
