"""The Kafka protocol: bytes <-> messages, for every API and every version.

The front door, for callers that have bytes without a connection:

    from proxy.protocol import decode_request, decode_response, encode, to_json, from_json

    request = decode_request(3, 12, body)          # the body is what follows the header
    print(to_json(request, 12))                    # Kafka's own JSON notation
    assert encode(request, 12) == body
    assert from_json(type(request), 12, to_json(request, 12)) == request

Wrong bytes or values raise `ProtocolError`, and no other exception.
"""

from __future__ import annotations

from proxy.protocol import messages
from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import decode, encode
from proxy.protocol.json import from_json, to_json
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.schema import Request, Response

__all__ = [
    "ProtocolError",
    "decode_request",
    "decode_response",
    "encode",
    "from_json",
    "messages",
    "to_json",
]


def decode_request(api_key: int, version: int, body: bytes | memoryview) -> Request:
    """The request that `body` is, without its header. Raises ProtocolError."""
    return decode(_api(api_key, Fault.CLIENT).request, version, body)


def decode_response(api_key: int, version: int, body: bytes | memoryview) -> Response:
    """The response that `body` is, without its header. Raises ProtocolError."""
    return decode(_api(api_key, Fault.BROKER).response, version, body)


def _api(key: int, fault: Fault) -> Api:
    if key not in APIS:
        raise ProtocolError(f"no API has the key {key}; the newest is {max(APIS)}", fault=fault)
    return APIS[key]
