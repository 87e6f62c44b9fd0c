"""DeleteGroups (key 42): DOC"""

from proxy.protocol.api import DELETE_GROUPS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, GroupId, ThrottleTime, array


class DeleteGroupsRequest(Request, api=DELETE_GROUPS):
    """DOC"""

    groups_names: array[GroupId]


class DeleteGroupsResponse(Response, api=DELETE_GROUPS):
    """DOC"""

    class DeletableGroupResult(Struct):
        """DOC"""

        group_id: GroupId
        error_code: Error
        error_message: ErrorMessage | None = since(3, default=None)

    throttle_time_ms: ThrottleTime
    results: array[DeletableGroupResult]
