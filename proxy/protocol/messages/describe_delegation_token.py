"""DescribeDelegationToken (key 41): the tokens that the client may see (KIP-48), their secrets included."""

from proxy.protocol.api import DESCRIBE_DELEGATION_TOKEN
from proxy.protocol.schema import Request, Response, Struct, since
from proxy.protocol.wire import Error, Principal, SecretBytes, ThrottleTime, array, int64, string


class DescribeDelegationTokenRequest(Request, api=DESCRIBE_DELEGATION_TOKEN):
    """Which tokens do these owners have?"""

    class Owner(Struct):
        """An owner of tokens."""

        principal_type: Principal
        principal_name: Principal

    owners: array[Owner] | None  # null: all


class DescribeDelegationTokenResponse(Response, api=DESCRIBE_DELEGATION_TOKEN):
    """The tokens."""

    class Token(Struct):
        """A token and who may use it."""

        class Renewer(Struct):
            """Who else may renew the token."""

            principal_type: Principal
            principal_name: Principal

        principal_type: Principal
        principal_name: Principal
        token_requester_principal_type: Principal = since(3)
        token_requester_principal_name: Principal = since(3)
        issue_timestamp: int64  # in milliseconds, as the two below
        expiry_timestamp: int64  # it must be renewed before
        max_timestamp: int64  # it cannot be renewed beyond
        token_id: string
        hmac: SecretBytes
        renewers: array[Renewer]

    error_code: Error
    tokens: array[Token]
    throttle_time_ms: ThrottleTime
