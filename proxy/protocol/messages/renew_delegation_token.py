"""RenewDelegationToken (key 39): let a token live on (KIP-48)."""

from proxy.protocol.api import RENEW_DELEGATION_TOKEN
from proxy.protocol.schema import Request, Response
from proxy.protocol.wire import Error, SecretBytes, ThrottleTime, int64


class RenewDelegationTokenRequest(Request, api=RENEW_DELEGATION_TOKEN):
    """Renew the token with this HMAC."""

    hmac: SecretBytes
    renew_period_ms: int64  # -1: as the broker is configured


class RenewDelegationTokenResponse(Response, api=RENEW_DELEGATION_TOKEN):
    """How long it lives now."""

    error_code: Error
    expiry_timestamp_ms: int64
    throttle_time_ms: ThrottleTime
