"""Envelope (key 58): a broker passes a client's request on to the controller, with the client's principal (KIP-590).

Its sender can act as any principal: only the controllers' listener accepts it.
"""

from proxy.protocol.api import ENVELOPE
from proxy.protocol.schema import Request, Response, field
from proxy.protocol.wire import ClientAddress, Error, PrincipalBytes


class EnvelopeRequest(Request, api=ENVELOPE):
    """A request within a request."""

    request_data: bytes  # header and body of the inner request
    request_principal: PrincipalBytes | None  # a DefaultPrincipalData, null where it could not be serialised
    client_host_address: ClientAddress  # 4 or 16 bytes


class EnvelopeResponse(Response, api=ENVELOPE):
    """The inner request's answer, or why it was not asked."""

    # Header and body of the inner response; null when there is an error.
    response_data: bytes | None = field(default=None)
    error_code: Error
