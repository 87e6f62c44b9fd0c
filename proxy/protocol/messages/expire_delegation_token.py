"""ExpireDelegationToken (key 40): DOC"""

from proxy.protocol.api import EXPIRE_DELEGATION_TOKEN
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, SecretBytes, ThrottleTime, int64


class ExpireDelegationTokenRequest(Request, api=EXPIRE_DELEGATION_TOKEN):
    """DOC"""

    hmac: SecretBytes
    expiry_time_period_ms: int64


class ExpireDelegationTokenResponse(Response, api=EXPIRE_DELEGATION_TOKEN):
    """DOC"""

    error_code: Error
    expiry_timestamp_ms: int64
    throttle_time_ms: ThrottleTime
