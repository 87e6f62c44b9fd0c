"""ExpireDelegationToken (key 40): end a token, now or soon (KIP-48)."""

from proxy.protocol.api import EXPIRE_DELEGATION_TOKEN
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, SecretBytes, ThrottleTime, int64


class ExpireDelegationTokenRequest(Request, api=EXPIRE_DELEGATION_TOKEN):
    """End the token with this HMAC."""

    hmac: SecretBytes
    expiry_time_period_ms: int64  # from now on; negative: at once


class ExpireDelegationTokenResponse(Response, api=EXPIRE_DELEGATION_TOKEN):
    """When it ends."""

    error_code: Error
    expiry_timestamp_ms: int64
    throttle_time_ms: ThrottleTime
