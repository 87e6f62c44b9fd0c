"""DescribeGroups (key 15): the members of classic groups, and what each of them does.

A group that does not exist is described as Dead; from v6 on it is GROUP_ID_NOT_FOUND, with a message (KIP-1043).
"""

from proxy.protocol.api import DESCRIBE_GROUPS
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
    array,
    string,
)


class DescribeGroupsRequest(Request, api=DESCRIBE_GROUPS):
    """Describe these groups."""

    groups: array[GroupId]
    include_authorized_operations: bool = since(3)


class DescribeGroupsResponse(Response, api=DESCRIBE_GROUPS):
    """The groups."""

    class Group(Struct):
        """A group and its members."""

        class Member(Struct):
            """A member, where it comes from and what it does."""

            member_id: MemberId
            group_instance_id: MemberId | None = since(4, default=None)
            client_id: ClientId
            client_host: ClientHost  # an address with a slash before it: `/10.0.0.7`
            member_metadata: bytes  # what it sent in JoinGroup
            member_assignment: bytes  # what it was given in SyncGroup

        error_code: Error
        error_message: ErrorMessage | None = since(6, default=None)
        group_id: GroupId
        group_state: string
        protocol_type: string
        protocol_data: string  # the protocol that the members agreed on
        members: array[Member]
        authorized_operations: AuthorizedOperations = since(3, default=-(2**31))  # the default: not asked for

    throttle_time_ms: ThrottleTime = since(1)
    groups: array[Group] = field(mirrors="groups")
