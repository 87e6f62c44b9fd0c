"""DescribeAcls (key 29): the ACLs that match a filter.

v1 brought patterns (KIP-290), v3 users as resources (KIP-373). In a filter null matches everything, and so does 1, ANY,
for a type, an operation or a permission.
Resource types: 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7 user. Patterns: 3 literal,
4 prefixed; in filters also 2, match: all that apply to a resource of this name. Permissions: 2 deny, 3 allow.
"""

from proxy.protocol.api import DESCRIBE_ACLS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, Principal, ResourceName, ThrottleTime, array, int8, string


class DescribeAclsRequest(Request, api=DESCRIBE_ACLS):
    """Which ACLs match?"""

    resource_type_filter: int8
    resource_name_filter: ResourceName | None
    pattern_type_filter: int8 = since(1, default=3)
    principal_filter: Principal | None
    host_filter: string | None
    operation: int8
    permission_type: int8


class DescribeAclsResponse(Response, api=DESCRIBE_ACLS):
    """The ACLs, grouped by what they are about."""

    class Resource(Struct):
        """A resource pattern and its ACLs."""

        class Acl(Struct):
            """Who is allowed or denied what, from where."""

            principal: Principal  # type and name: `User:alice`
            host: string  # an address, or `*`
            operation: int8
            permission_type: int8

        resource_type: int8
        resource_name: ResourceName
        pattern_type: int8 = since(1, default=3)
        acls: array[Acl]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
    resources: array[Resource]
