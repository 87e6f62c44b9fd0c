"""SASL absent: clients of this listener do not authenticate by SASL, and brokers know only the proxy.

The proxy logs in to brokers itself. A client's token on such a connection would authenticate the proxy again (KIP-368):
a client could try the proxy's passwords, and would be taken for it.

Rules:
* A request of SASL is answered as by a broker's listener without SASL, and does not reach the broker.
"""

from __future__ import annotations

from proxy.plugin import (
    Context,
    Decision,
    ErrorCode,
    Plugin,
    Refused,
    Reply,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    on_request,
)
from proxy.plugin.sasl import ALREADY_AUTHENTICATED

WHY = "the listener has no SASL"


class SaslAbsent(Plugin):
    """Refuses what a client says of itself by SASL."""

    @on_request(SaslHandshakeRequest)
    def handshake(self, ctx: Context, request: SaslHandshakeRequest) -> Decision:
        """The client names a mechanism."""
        ctx.connection.gate.tell(Refused("unknown", WHY))
        return Reply(SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=[]))

    @on_request(SaslAuthenticateRequest)
    def authenticate(self, ctx: Context, request: SaslAuthenticateRequest) -> Decision:
        """A token of the client."""
        ctx.connection.gate.tell(Refused("unknown", WHY))
        error = ErrorCode.ILLEGAL_SASL_STATE
        return Reply(SaslAuthenticateResponse(error_code=error, error_message=ALREADY_AUTHENTICATED, auth_bytes=b""))
