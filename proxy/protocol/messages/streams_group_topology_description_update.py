"""StreamsGroupTopologyDescriptionUpdate (key 93): DOC"""

from proxy.protocol.api import STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE
from proxy.protocol.schema import Request, Response, Struct, since
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


class StreamsGroupTopologyDescriptionUpdateRequest(Request, api=STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE):
    """DOC"""

    group_id: GroupId
    member_id: MemberId
    topology_epoch: int32
    topology_description: TopologyDescription


class StreamsGroupTopologyDescriptionUpdateResponse(Response, api=STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE):
    """DOC"""

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None = since(0, default=None)
