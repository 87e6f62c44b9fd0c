"""StreamsGroupDescribe (key 89): streams groups, their topologies and their members (KIP-1071).

Endpoints are those of the application's own interactive queries: no broker listens there, so they are plain strings
and numbers here. v1 adds the topology's description (KIP-1331) and the assignor (KIP-1357).
"""

from proxy.protocol.api import STREAMS_GROUP_DESCRIBE
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import (
    AuthorizedOperations,
    ClientHost,
    ClientId,
    Error,
    ErrorMessage,
    GroupId,
    MemberId,
    ThrottleTime,
    TopicName,
    array,
    int8,
    int16,
    int32,
    int64,
    string,
    uint16,
)


class StreamsGroupDescribeRequest(Request, api=STREAMS_GROUP_DESCRIBE):
    """The groups to describe."""

    group_ids: array[GroupId]
    include_authorized_operations: bool
    include_topology_description: bool = since(1)  # as StreamsGroupTopologyDescriptionUpdate left it


class TaskIds(Struct):
    """A subtopology and some of its partitions: tasks."""

    subtopology_id: string
    partitions: array[int32]


class Assignment(Struct):
    """The tasks of one member."""

    active_tasks: array[TaskIds]
    standby_tasks: array[TaskIds]
    warmup_tasks: array[TaskIds]


class Endpoint(Struct):
    """Where an application instance answers its own queries."""

    host: string
    port: uint16


class KeyValue(Struct):
    """A key and its value."""

    key: string
    value: string


class TaskOffset(Struct):
    """How far one task has come."""

    subtopology_id: string
    partition: int32
    offset: int64


class TopicInfo(Struct):
    """An internal topic of the topology."""

    name: TopicName
    partitions: int32
    replication_factor: int16
    topic_configs: array[KeyValue]


class TopologyDescriptionNode(Struct):
    """A source, processor or sink."""

    name: string
    node_type: int8  # 1: source, 2: processor, 3: sink
    source_topics: array[TopicName]
    sink_topic: TopicName | None = field(default=None)  # null: chosen record by record, or no sink
    stores: array[string]  # state stores that it uses
    successors: array[string]  # nodes by name


class TopologyDescriptionSubtopology(Struct):
    """Nodes that share no state with those of others."""

    subtopology_id: string
    nodes: array[TopologyDescriptionNode]


class TopologyDescriptionGlobalStore(Struct):
    """A store that every instance has in full."""

    source: TopologyDescriptionNode
    processor: TopologyDescriptionNode


class TopologyDescription(Struct):
    """The topology as its author wrote it."""

    subtopologies: array[TopologyDescriptionSubtopology]
    global_stores: array[TopologyDescriptionGlobalStore]


class StreamsGroupDescribeResponse(Response, api=STREAMS_GROUP_DESCRIBE):
    """The groups."""

    class Group(Struct):
        """One group."""

        class Topology(Struct):
            """What the application computes, as far as the coordinator must know."""

            class Subtopology(Struct):
                """A part of the topology that shares no state with the others."""

                subtopology_id: string
                source_topics: array[TopicName]
                repartition_sink_topics: array[TopicName]
                state_changelog_topics: array[TopicInfo]
                repartition_source_topics: array[TopicInfo]

            epoch: int32
            # Null: the topology is not set, or cannot work.
            subtopologies: array[Subtopology] | None = field(default=None)

        class Member(Struct):
            """One member."""

            member_id: MemberId
            member_epoch: int32
            instance_id: MemberId | None = field(default=None)  # of a static member (KIP-345)
            rack_id: string | None = field(default=None)
            client_id: ClientId
            client_host: ClientHost
            topology_epoch: int32
            process_id: string  # of the instance, which may have several members
            user_endpoint: Endpoint | None = field(default=None)
            client_tags: array[KeyValue]
            task_offsets: array[TaskOffset]
            task_end_offsets: array[TaskOffset]  # of the changelog topics
            assignment: Assignment  # what it has
            target_assignment: Assignment  # what it is to have
            is_classic: bool  # joined by the older protocol

        error_code: Error
        error_message: ErrorMessage | None = field(default=None)
        group_id: GroupId
        group_state: string  # such as Stable or NotReady
        group_epoch: int32
        assignment_epoch: int32
        topology: Topology | None = field(default=None)
        members: array[Member]
        authorized_operations: AuthorizedOperations = field(default=-(2**31))  # the default: not asked for
        topology_description: TopologyDescription | None = since(1, default=None)
        topology_description_status: int8 = since(1)  # 0: not asked for; then whether there is one, or why not
        assignor_name: string | None = since(1, default=None)

    throttle_time_ms: ThrottleTime
    groups: array[Group] = field(mirrors="group_ids")
