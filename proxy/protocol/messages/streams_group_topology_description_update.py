"""StreamsGroupTopologyDescriptionUpdate (key 93): a streams group's topology, as its author wrote it.

A member sends it for people to see (KIP-1331).
The coordinator asks for it in StreamsGroupHeartbeat v1, and
shows it in StreamsGroupDescribe v1. Brokers without a plugin that keeps it answer UNSUPPORTED_VERSION.
"""

from proxy.protocol.api import STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE
from proxy.protocol.schema import Request, Response, Struct, field
from proxy.protocol.wire import (
    Error,
    ErrorMessage,
    GroupId,
    MemberId,
    ThrottleTime,
    TopicName,
    array,
    int8,
    int32,
    string,
)


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
    """The topology."""

    subtopologies: array[TopologyDescriptionSubtopology]
    global_stores: array[TopologyDescriptionGlobalStore]


class StreamsGroupTopologyDescriptionUpdateRequest(Request, api=STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE):
    """A group's topology."""

    group_id: GroupId
    member_id: MemberId
    topology_epoch: int32
    topology_description: TopologyDescription


class StreamsGroupTopologyDescriptionUpdateResponse(Response, api=STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE):
    """Whether it was taken."""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = field(default=None)
