"""DeleteGroups (key 42): forget groups without members, and their offsets (KIP-229)."""

from proxy.protocol.api import DELETE_GROUPS
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import Error, ErrorMessage, GroupId, ThrottleTime, array


class DeleteGroupsRequest(Request, api=DELETE_GROUPS):
    """Delete these groups."""

    groups_names: array[GroupId]


class DeleteGroupsResponse(Response, api=DELETE_GROUPS):
    """Which groups are deleted."""

    class Group(Struct):
        """Whether one group is deleted."""

        group_id: GroupId
        error_code: Error
        error_message: ErrorMessage | None = since(3, default=None)

    throttle_time_ms: ThrottleTime
    results: array[Group] = field(mirrors="groups_names")
