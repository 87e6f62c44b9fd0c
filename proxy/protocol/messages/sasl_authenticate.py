"""SaslAuthenticate (key 36): one step of the SASL mechanism that SaslHandshake v1 agreed on (KIP-152).

From v1 on sessions may have an end: before it, the client must authenticate again on the same connection, as the same
principal (KIP-368).
"""

from proxy.protocol.api import SASL_AUTHENTICATE
from proxy.protocol.schema import Request, Response, since
from proxy.protocol.wire import Error, ErrorMessage, SecretBytes, int64


class SaslAuthenticateRequest(Request, api=SASL_AUTHENTICATE):
    """The client's token."""

    auth_bytes: SecretBytes  # PLAIN has the password in it


class SaslAuthenticateResponse(Response, api=SASL_AUTHENTICATE):
    """The broker's token."""

    error_code: Error
    error_message: ErrorMessage | None
    auth_bytes: SecretBytes
    session_lifetime_ms: int64 = since(1)  # 0: without end
