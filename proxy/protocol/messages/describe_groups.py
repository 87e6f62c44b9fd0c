"""DescribeGroups (key 15): DOC"""

from proxy.protocol.api import DESCRIBE_GROUPS
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
    array,
    string,
)


class DescribeGroupsRequest(Request, api=DESCRIBE_GROUPS):
    """DOC"""

    groups: array[GroupId]
    include_authorized_operations: bool = since(3)


class DescribeGroupsResponse(Response, api=DESCRIBE_GROUPS):
    """DOC"""

    class DescribedGroup(Struct):
        """DOC"""

        class DescribedGroupMember(Struct):
            """DOC"""

            member_id: MemberId
            group_instance_id: MemberId | None = since(4, default=None)
            client_id: ClientId
            client_host: ClientHost
            member_metadata: bytes
            member_assignment: bytes

        error_code: Error
        error_message: ErrorMessage | None = since(6, default=None)
        group_id: GroupId
        group_state: string
        protocol_type: string
        protocol_data: string
        members: array[DescribedGroupMember]
        authorized_operations: AuthorizedOperations = since(3, default=-2147483648)

    throttle_time_ms: ThrottleTime = since(1)
    groups: array[DescribedGroup]
