"""Envelope (key 58): DOC"""

from proxy.protocol.api import ENVELOPE
from proxy.protocol.schema import Request, Response, since
from proxy.protocol.wire import Error


class EnvelopeRequest(Request, api=ENVELOPE):
    """DOC"""

    request_data: bytes
    request_principal: bytes | None
    client_host_address: bytes


class EnvelopeResponse(Response, api=ENVELOPE):
    """DOC"""

    response_data: bytes | None = since(0, default=None)
    error_code: Error
