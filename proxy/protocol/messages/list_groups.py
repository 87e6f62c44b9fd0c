"""ListGroups (key 16): DOC"""

from proxy.protocol.api import LIST_GROUPS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, GroupId, ThrottleTime, array, string


class ListGroupsRequest(Request, api=LIST_GROUPS):
    """DOC"""

    states_filter: array[string] = since(4)
    types_filter: array[string] = since(5)


class ListGroupsResponse(Response, api=LIST_GROUPS):
    """DOC"""

    class ListedGroup(Struct):
        """DOC"""

        group_id: GroupId
        protocol_type: string
        group_state: string = since(4)
        group_type: string = since(5)

    throttle_time_ms: ThrottleTime = since(1)
    error_code: Error
    groups: array[ListedGroup]
