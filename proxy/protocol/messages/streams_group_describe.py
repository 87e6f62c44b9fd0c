"""StreamsGroupDescribe (key 89): DOC"""

from proxy.protocol.api import STREAMS_GROUP_DESCRIBE
from proxy.protocol.schema import Request, Response, Struct, since
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
    """DOC"""

    group_ids: array[GroupId]
    include_authorized_operations: bool
    include_topology_description: bool = since(1)


class TaskIds(Struct):
    """DOC"""

    subtopology_id: string
    partitions: array[int32]


class Assignment(Struct):
    """DOC"""

    active_tasks: array[TaskIds]
    standby_tasks: array[TaskIds]
    warmup_tasks: array[TaskIds]


class Endpoint(Struct):
    """DOC"""

    host: string
    port: uint16


class KeyValue(Struct):
    """DOC"""

    key: string
    value: string


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


class TopologyDescriptionNode(Struct):
    """DOC"""

    name: string
    node_type: int8
    source_topics: array[TopicName]
    sink_topic: TopicName | None = since(0, default=None)
    stores: array[string]
    successors: array[string]


class TopologyDescriptionSubtopology(Struct):
    """DOC"""

    subtopology_id: string
    nodes: array[TopologyDescriptionNode]


class TopologyDescriptionGlobalStore(Struct):
    """DOC"""

    source: TopologyDescriptionNode
    processor: TopologyDescriptionNode


class TopologyDescription(Struct):
    """DOC"""

    subtopologies: array[TopologyDescriptionSubtopology]
    global_stores: array[TopologyDescriptionGlobalStore]


class StreamsGroupDescribeResponse(Response, api=STREAMS_GROUP_DESCRIBE):
    """DOC"""

    class DescribedGroup(Struct):
        """DOC"""

        class Topology(Struct):
            """DOC"""

            class Subtopology(Struct):
                """DOC"""

                subtopology_id: string
                source_topics: array[TopicName]
                repartition_sink_topics: array[TopicName]
                state_changelog_topics: array[TopicInfo]
                repartition_source_topics: array[TopicInfo]

            epoch: int32
            subtopologies: array[Subtopology] | None = since(0, default=None)

        class Member(Struct):
            """DOC"""

            member_id: MemberId
            member_epoch: int32
            instance_id: MemberId | None = since(0, default=None)
            rack_id: string | None = since(0, default=None)
            client_id: ClientId
            client_host: ClientHost
            topology_epoch: int32
            process_id: string
            user_endpoint: Endpoint | None = since(0, default=None)
            client_tags: array[KeyValue]
            task_offsets: array[TaskOffset]
            task_end_offsets: array[TaskOffset]
            assignment: Assignment
            target_assignment: Assignment
            is_classic: bool

        error_code: Error
        error_message: ErrorMessage | None = since(0, default=None)
        group_id: GroupId
        group_state: string
        group_epoch: int32
        assignment_epoch: int32
        topology: Topology | None = since(0, default=None)
        members: array[Member]
        authorized_operations: AuthorizedOperations = since(0, default=-2147483648)
        topology_description: TopologyDescription | None = since(1, default=None)
        topology_description_status: int8 = since(1)
        assignor_name: string | None = since(1, default=None)

    throttle_time_ms: ThrottleTime
    groups: array[DescribedGroup]
