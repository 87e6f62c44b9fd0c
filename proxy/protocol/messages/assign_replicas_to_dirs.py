"""AssignReplicasToDirs (key 73): a broker tells the controller in which directories its replicas are (KIP-858)."""

from proxy.protocol.api import ASSIGN_REPLICAS_TO_DIRS
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import BrokerId, Error, PartitionIndex, ThrottleTime, TopicId, array, int64, uuid


class AssignReplicasToDirsRequest(Request, api=ASSIGN_REPLICAS_TO_DIRS):
    """The broker's replicas, directory by directory."""

    class Directory(Struct):
        """A directory and the replicas in it."""

        class Topic(Struct):
            """A topic and its partitions."""

            class Partition(Struct):
                """One partition."""

                partition_index: PartitionIndex

            topic_id: TopicId
            partitions: array[Partition]

        id: uuid
        topics: array[Topic]

    broker_id: BrokerId
    broker_epoch: int64 = field(default=-1)  # from its registration
    directories: array[Directory]


class AssignReplicasToDirsResponse(Response, api=ASSIGN_REPLICAS_TO_DIRS):
    """What the controller took."""

    class Directory(Struct):
        """A directory, as asked."""

        class Topic(Struct):
            """A topic, as asked."""

            class Partition(Struct):
                """One partition's result."""

                partition_index: PartitionIndex
                error_code: Error

            topic_id: TopicId
            partitions: array[Partition] = field(mirrors="partitions")

        id: uuid
        topics: array[Topic] = field(mirrors="topics")

    throttle_time_ms: ThrottleTime
    error_code: Error
    directories: array[Directory] = field(mirrors="directories")
