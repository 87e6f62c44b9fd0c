"""StreamsGroupHeartbeat (key 88): join, stay in and leave a streams group (KIP-1071).

The coordinator assigns the tasks. A member epoch of 0 joins, -1 leaves, -2 leaves for a while (static
members). Null stands for what has not changed since the last heartbeat. The coordinator creates the changelog and
repartition topics of the topology itself. v1 lets it ask for the topology's description (KIP-1331).
Endpoints are those of the application's own interactive queries: no broker listens there, so they are plain strings
and numbers here.
"""

from proxy.protocol.api import STREAMS_GROUP_HEARTBEAT
from proxy.protocol.schema import Request, Response, Struct, field, since, until
from proxy.protocol.wire import (
    Error,
    ErrorMessage,
    GroupId,
    MemberId,
    PartitionIndex,
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
    """Where an application instance answers its own queries."""

    host: string
    port: uint16


class KeyValue(Struct):
    """A key and its value."""

    key: string
    value: string


class TaskIds(Struct):
    """A subtopology and some of its partitions: tasks."""

    subtopology_id: string
    partitions: array[int32]


class TaskOffset(Struct):
    """How far one task has come."""

    subtopology_id: string
    partition: int32
    offset: int64


class TopicInfo(Struct):
    """An internal topic that the topology needs."""

    name: TopicName
    partitions: int32  # 0: as many as the coordinator finds right
    replication_factor: int16  # 0: the broker's default
    topic_configs: array[KeyValue]


class StreamsGroupHeartbeatRequest(Request, api=STREAMS_GROUP_HEARTBEAT):
    """A member's sign of life, and what changed for it."""

    class Topology(Struct):
        """What the application computes, as far as the coordinator must know."""

        class Subtopology(Struct):
            """A part of the topology that shares no state with the others."""

            class CopartitionGroup(Struct):
                """Topics that must have equally many partitions."""

                source_topics: array[int16]  # these are places in the subtopology's arrays
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
    member_id: MemberId  # made by the client itself
    member_epoch: int32
    endpoint_information_epoch: int32
    instance_id: MemberId | None = field(default=None)  # of a static member (KIP-345)
    rack_id: string | None = field(default=None)
    rebalance_timeout_ms: int32 = field(default=-1)  # -1: unchanged
    topology: Topology | None = field(default=None)
    active_tasks: array[TaskIds] | None = field(default=None)
    standby_tasks: array[TaskIds] | None = field(default=None)
    warmup_tasks: array[TaskIds] | None = field(default=None)
    process_id: string | None = field(default=None)  # of the instance, which may have several members
    user_endpoint: Endpoint | None = field(default=None)
    client_tags: array[KeyValue] | None = field(default=None)  # for standby tasks on other racks
    task_offsets: array[TaskOffset] | None = field(default=None)
    task_end_offsets: array[TaskOffset] | None = field(default=None)  # of the changelog topics
    shutdown_application: bool


class Status(Struct):
    """Something that keeps the group from working."""

    status_code: int8  # 0: stale topology, 1: missing source topics, 2: wrongly partitioned; ...
    status_detail: string


class TopicPartition(Struct):
    """A topic and some of its partitions."""

    topic: TopicName
    partitions: array[PartitionIndex]


class StreamsGroupHeartbeatResponse(Response, api=STREAMS_GROUP_HEARTBEAT):
    """The member's epoch, and the tasks it is to have."""

    class EndpointToPartitions(Struct):
        """An application endpoint, and the partitions whose state is there."""

        user_endpoint: Endpoint
        active_partitions: array[TopicPartition]
        standby_partitions: array[TopicPartition]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = field(default=None)
    member_id: MemberId
    member_epoch: int32
    heartbeat_interval_ms: int32
    acceptable_recovery_lag_legacy: int32 = until(0)  # too narrow for a difference of offsets: v1 has it anew
    task_offset_interval_ms: int32
    acceptable_recovery_lag: int64 = since(1, default=-1)  # in records
    status: array[Status] | None
    active_tasks: array[TaskIds] | None = field(default=None)
    standby_tasks: array[TaskIds] | None = field(default=None)
    warmup_tasks: array[TaskIds] | None = field(default=None)
    topology_description_required: bool = since(1)
    endpoint_information_epoch: int32
    partitions_by_user_endpoint: array[EndpointToPartitions] | None = field(default=None)
