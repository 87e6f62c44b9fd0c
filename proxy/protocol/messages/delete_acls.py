"""DeleteAcls (key 31): delete the ACLs that match filters.

v1 brought patterns (KIP-290), v3 users as resources (KIP-373). Filters and numbers are those of DescribeAcls.
"""

from proxy.protocol.api import DELETE_ACLS
from proxy.protocol.schema import Request, Response, Struct, field, since
from proxy.protocol.wire import Error, ErrorMessage, Principal, ResourceName, ThrottleTime, array, int8, string


class DeleteAclsRequest(Request, api=DELETE_ACLS):
    """Delete the ACLs that match one of these filters."""

    class Filter(Struct):
        """Which ACLs to delete; null matches everything."""

        resource_type_filter: int8
        resource_name_filter: ResourceName | None
        pattern_type_filter: int8 = since(1, default=3)
        principal_filter: Principal | None
        host_filter: string | None
        operation: int8
        permission_type: int8

    filters: array[Filter]


class DeleteAclsResponse(Response, api=DELETE_ACLS):
    """What was deleted, in the order of the filters."""

    class FilterResult(Struct):
        """What one filter matched."""

        class MatchingAcl(Struct):
            """An ACL that matched, and whether it was deleted."""

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
        matching_acls: array[MatchingAcl]

    throttle_time_ms: ThrottleTime
    filter_results: array[FilterResult] = field(mirrors="filters")
