"""CreateAcls (key 30): new ACLs.

v1 brought patterns (KIP-290), v3 users as resources (KIP-373). The numbers are those of DescribeAcls.
"""

from proxy.protocol.api import CREATE_ACLS
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import Error, ErrorMessage, Principal, ResourceName, ThrottleTime, array, int8, string


class CreateAclsRequest(Request, api=CREATE_ACLS):
    """Create these ACLs."""

    class Creation(Struct):
        """An ACL to create."""

        resource_type: int8
        resource_name: ResourceName
        resource_pattern_type: int8 = since(1, default=3)
        principal: Principal  # type and name: `User:alice`
        host: string  # an address, or `*`
        operation: int8
        permission_type: int8

    creations: array[Creation]


class CreateAclsResponse(Response, api=CREATE_ACLS):
    """Which ACLs were created, in the order of the request."""

    class Result(Struct):
        """Whether one ACL was created."""

        error_code: Error
        error_message: ErrorMessage | None

    throttle_time_ms: ThrottleTime
    results: array[Result] = field(mirrors="creations")
