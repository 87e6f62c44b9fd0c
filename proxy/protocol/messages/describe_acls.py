"""DescribeAcls (key 29): DOC"""

from proxy.protocol.api import DESCRIBE_ACLS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, Principal, ResourceName, ThrottleTime, array, int8, string


class DescribeAclsRequest(Request, api=DESCRIBE_ACLS):
    """DOC"""

    resource_type_filter: int8
    resource_name_filter: ResourceName | None
    pattern_type_filter: int8 = since(1, default=3)
    principal_filter: Principal | None
    host_filter: string | None
    operation: int8
    permission_type: int8


class DescribeAclsResponse(Response, api=DESCRIBE_ACLS):
    """DOC"""

    class DescribeAclsResource(Struct):
        """DOC"""

        class AclDescription(Struct):
            """DOC"""

            principal: Principal
            host: string
            operation: int8
            permission_type: int8

        resource_type: int8
        resource_name: ResourceName
        pattern_type: int8 = since(1, default=3)
        acls: array[AclDescription]

    throttle_time_ms: ThrottleTime
    error_code: Error
    error_message: ErrorMessage | None
    resources: array[DescribeAclsResource]
