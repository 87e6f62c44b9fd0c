"""DeleteAcls (key 31): DOC"""

from proxy.protocol.api import DELETE_ACLS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, Principal, ResourceName, ThrottleTime, array, int8, string


class DeleteAclsRequest(Request, api=DELETE_ACLS):
    """DOC"""

    class DeleteAclsFilter(Struct):
        """DOC"""

        resource_type_filter: int8
        resource_name_filter: ResourceName | None
        pattern_type_filter: int8 = since(1, default=3)
        principal_filter: Principal | None
        host_filter: string | None
        operation: int8
        permission_type: int8

    filters: array[DeleteAclsFilter]


class DeleteAclsResponse(Response, api=DELETE_ACLS):
    """DOC"""

    class DeleteAclsFilterResult(Struct):
        """DOC"""

        class DeleteAclsMatchingAcl(Struct):
            """DOC"""

            error_code: Error
            error_message: ErrorMessage | None
            resource_type: int8
            resource_name: ResourceName
            pattern_type: int8 = since(1, default=3)
            principal: Principal
            host: string
            operation: int8
            permission_type: int8

        error_code: Error
        error_message: ErrorMessage | None
        matching_acls: array[DeleteAclsMatchingAcl]

    throttle_time_ms: ThrottleTime
    filter_results: array[DeleteAclsFilterResult]
