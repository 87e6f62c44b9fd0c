"""CreateDelegationToken (key 38): DOC"""

from proxy.protocol.api import CREATE_DELEGATION_TOKEN
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, Principal, SecretBytes, ThrottleTime, array, int64, string


class CreateDelegationTokenRequest(Request, api=CREATE_DELEGATION_TOKEN):
    """DOC"""

    class CreatableRenewers(Struct):
        """DOC"""

        principal_type: Principal
        principal_name: Principal

    owner_principal_type: Principal | None = since(3)
    owner_principal_name: Principal | None = since(3)
    renewers: array[CreatableRenewers]
    max_lifetime_ms: int64


class CreateDelegationTokenResponse(Response, api=CREATE_DELEGATION_TOKEN):
    """DOC"""

    error_code: Error
    principal_type: Principal
    principal_name: Principal
    token_requester_principal_type: Principal = since(3)
    token_requester_principal_name: Principal = since(3)
    issue_timestamp_ms: int64
    expiry_timestamp_ms: int64
    max_timestamp_ms: int64
    token_id: string
    hmac: SecretBytes
    throttle_time_ms: ThrottleTime
