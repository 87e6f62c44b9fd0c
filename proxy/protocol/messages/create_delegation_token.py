"""CreateDelegationToken (key 38): a token that authenticates as its owner for a while (KIP-48).

Brokers create none over an unauthenticated connection, nor for a client that authenticated with a token. v3 can create
one for another user (KIP-373).
"""

from proxy.protocol.api import CREATE_DELEGATION_TOKEN
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, Principal, SecretBytes, ThrottleTime, array, int64, string


class CreateDelegationTokenRequest(Request, api=CREATE_DELEGATION_TOKEN):
    """Give me a token."""

    class Renewer(Struct):
        """Who else may renew the token."""

        principal_type: Principal
        principal_name: Principal

    owner_principal_type: Principal | None = since(3)  # null or empty: the requester
    owner_principal_name: Principal | None = since(3)
    renewers: array[Renewer]
    max_lifetime_ms: int64  # -1: as the broker is configured


class CreateDelegationTokenResponse(Response, api=CREATE_DELEGATION_TOKEN):
    """The token."""

    error_code: Error
    principal_type: Principal
    principal_name: Principal
    token_requester_principal_type: Principal = since(3)
    token_requester_principal_name: Principal = since(3)
    issue_timestamp_ms: int64
    expiry_timestamp_ms: int64  # it must be renewed before
    max_timestamp_ms: int64  # it cannot be renewed beyond
    token_id: string  # the user name to authenticate with
    hmac: SecretBytes  # the password
    throttle_time_ms: ThrottleTime
