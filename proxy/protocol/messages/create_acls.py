"""CreateAcls (key 30): DOC"""

from proxy.protocol.api import CREATE_ACLS
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, ErrorMessage, Principal, ResourceName, ThrottleTime, array, int8, string


class CreateAclsRequest(Request, api=CREATE_ACLS):
    """DOC"""

    class AclCreation(Struct):
        """DOC"""

        resource_type: int8
        resource_name: ResourceName
        resource_pattern_type: int8 = since(1, default=3)
        principal: Principal
        host: string
        operation: int8
        permission_type: int8

    creations: array[AclCreation]


class CreateAclsResponse(Response, api=CREATE_ACLS):
    """DOC"""

    class AclCreationResult(Struct):
        """DOC"""

        error_code: Error
        error_message: ErrorMessage | None

    throttle_time_ms: ThrottleTime
    results: array[AclCreationResult]
