"""RenewDelegationToken (key 39): DOC"""

from proxy.protocol.api import RENEW_DELEGATION_TOKEN
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, SecretBytes, ThrottleTime, int64


class RenewDelegationTokenRequest(Request, api=RENEW_DELEGATION_TOKEN):
    """DOC"""

    hmac: SecretBytes
    renew_period_ms: int64


class RenewDelegationTokenResponse(Response, api=RENEW_DELEGATION_TOKEN):
    """DOC"""

    error_code: Error
    expiry_timestamp_ms: int64
    throttle_time_ms: ThrottleTime
