"""StreamsGroupHeartbeat (key 88): DOC"""

from proxy.protocol.api import STREAMS_GROUP_HEARTBEAT
from proxy.protocol.schema import Request, Response, Struct, since, until
from proxy.protocol.wire import (
    Error,
    ErrorMessage,
    GroupId,
    MemberId,
    ThrottleTime,
    TopicName,
    TopicRegex,
    array,
    int8,
    int16,
    int32,
    int64,
    string,
    uint16,
)


class Endpoint(Struct):
    """DOC"""

    host: string
    port: uint16


class KeyValue(Struct):
    """DOC"""

    key: string
    value: string


class TaskIds(Struct):
    """DOC"""

    subtopology_id: string
    partitions: array[int32]


class TaskOffset(Struct):
    """DOC"""

    subtopology_id: string
    partition: int32
    offset: int64


class TopicInfo(Struct):
    """DOC"""

    name: TopicName
    partitions: int32
    replication_factor: int16
    topic_configs: array[KeyValue]


class StreamsGroupHeartbeatRequest(Request, api=STREAMS_GROUP_HEARTBEAT):
    """DOC"""

    class Topology(Struct):
        """DOC"""

        class Subtopology(Struct):
            """DOC"""

            class CopartitionGroup(Struct):
                """DOC"""

                source_topics: array[int16]
                source_topic_regex: array[int16]
                repartition_source_topics: array[int16]

            subtopology_id: string
            source_topics: array[TopicName]
            source_topic_regex: array[TopicRegex]
            state_changelog_topics: array[TopicInfo]
            repartition_sink_topics: array[TopicName]
            repartition_source_topics: array[TopicInfo]
            copartition_groups: array[CopartitionGroup]

        epoch: int32
        subtopologies: array[Subtopology]

    group_id: GroupId
    member_id: MemberId
    member_epoch: int32
    endpoint_information_epoch: int32
    instance_id: MemberId | None = since(0, default=None)
    rack_id: string | None = since(0, default=None)
    rebalance_timeout_ms: int32 = since(0, default=-1)
    topology: Topology | None = since(0, default=None)
    active_tasks: array[TaskIds] | None = since(0, default=None)
    standby_tasks: array[TaskIds] | None = since(0, default=None)
    warmup_tasks: array[TaskIds] | None = since(0, default=None)
    process_id: string | None = since(0, default=None)
    user_endpoint: Endpoint | None = since(0, default=None)
    client_tags: array[KeyValue] | None = since(0, default=None)
    task_offsets: array[TaskOffset] | None = since(0, default=None)
    task_end_offsets: array[TaskOffset] | None = since(0, default=None)
    shutdown_application: bool


class Status(Struct):
    """DOC"""

    status_code: int8
    status_detail: string


class TopicPartition(Struct):
    """DOC"""

    topic: TopicName
    partitions: array[int32]


class StreamsGroupHeartbeatResponse(Response, api=STREAMS_GROUP_HEARTBEAT):
    """DOC"""

    class EndpointToPartitions(Struct):
        """DOC"""

        user_endpoint: Endpoint
        active_partitions: array[TopicPartition]
        standby_partitions: array[TopicPartition]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = since(0, default=None)
    member_id: MemberId
    member_epoch: int32
    heartbeat_interval_ms: int32
    acceptable_recovery_lag_legacy: int32 = until(0)
    task_offset_interval_ms: int32
    acceptable_recovery_lag: int64 = since(1, default=-1)
    status: array[Status] | None
    active_tasks: array[TaskIds] | None = since(0, default=None)
    standby_tasks: array[TaskIds] | None = since(0, default=None)
    warmup_tasks: array[TaskIds] | None = since(0, default=None)
    topology_description_required: bool = since(1)
    endpoint_information_epoch: int32
    partitions_by_user_endpoint: array[EndpointToPartitions] | None = since(0, default=None)
