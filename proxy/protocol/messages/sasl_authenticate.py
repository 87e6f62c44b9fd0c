"""SaslAuthenticate (key 36): DOC"""

from proxy.protocol.api import SASL_AUTHENTICATE
from proxy.protocol.schema import Request, Response, since
from proxy.protocol.wire import Error, ErrorMessage, SecretBytes, int64


class SaslAuthenticateRequest(Request, api=SASL_AUTHENTICATE):
    """DOC"""

    auth_bytes: SecretBytes


class SaslAuthenticateResponse(Response, api=SASL_AUTHENTICATE):
    """DOC"""

    error_code: Error
    error_message: ErrorMessage | None
    auth_bytes: SecretBytes
    session_lifetime_ms: int64 = since(1)
