"""DescribeDelegationToken (key 41): DOC"""

from proxy.protocol.api import DESCRIBE_DELEGATION_TOKEN
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, Principal, SecretBytes, ThrottleTime, array, int64, string


class DescribeDelegationTokenRequest(Request, api=DESCRIBE_DELEGATION_TOKEN):
    """DOC"""

    class DescribeDelegationTokenOwner(Struct):
        """DOC"""

        principal_type: Principal
        principal_name: Principal

    owners: array[DescribeDelegationTokenOwner] | None


class DescribeDelegationTokenResponse(Response, api=DESCRIBE_DELEGATION_TOKEN):
    """DOC"""

    class DescribedDelegationToken(Struct):
        """DOC"""

        class DescribedDelegationTokenRenewer(Struct):
            """DOC"""

            principal_type: Principal
            principal_name: Principal

        principal_type: Principal
        principal_name: Principal
        token_requester_principal_type: Principal = since(3)
        token_requester_principal_name: Principal = since(3)
        issue_timestamp: int64
        expiry_timestamp: int64
        max_timestamp: int64
        token_id: string
        hmac: SecretBytes
        renewers: array[DescribedDelegationTokenRenewer]

    error_code: Error
    tokens: array[DescribedDelegationToken]
    throttle_time_ms: ThrottleTime
