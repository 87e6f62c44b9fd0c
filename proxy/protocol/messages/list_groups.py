"""ListGroups (key 16): the groups that one broker coordinates."""

from proxy.protocol.api import LIST_GROUPS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, GroupId, ThrottleTime, array, string


class ListGroupsRequest(Request, api=LIST_GROUPS):
    """List the groups, perhaps only some (KIP-518, KIP-848)."""

    states_filter: array[string] = since(4)  # empty: all
    types_filter: array[string] = since(5)  # empty: all


class ListGroupsResponse(Response, api=LIST_GROUPS):
    """The groups that the client may see."""

    class Group(Struct):
        """A group."""

        group_id: GroupId
        protocol_type: string
        group_state: string = since(4)
        group_type: string = since(5)

    throttle_time_ms: ThrottleTime = since(1)
    error_code: Error
    groups: array[Group]
