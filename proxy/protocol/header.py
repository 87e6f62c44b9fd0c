"""The headers before requests and responses, and where bodies begin.

Rules:
* The API and its version determine the version of the header: see `api.py` for the exceptions.
* The client id keeps its int16 length in header v2, where all else is compact. Null is legal, and read as null.
* No client and no broker of today sends tagged fields in a header. A few bytes of them are read, for those of tomorrow.
  Reading takes 3 us for each field, before anybody knows what the request is: many would hold up all connections.
* A frame here starts after its four size bytes; a frame that `request_frame` or `response_frame` makes includes them.
"""

import struct

from proxy.protocol.api import API_VERSIONS, APIS, Api
from proxy.protocol.codec import BAD_BYTES, decode_prefix, encode, skipper, slice_encode
from proxy.protocol.emit.shared import UNJOINED
from proxy.protocol.frame import Buffer
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.schema import Message, Request, Response, since
from proxy.protocol.slices import Sliced
from proxy.protocol.wire import int16, int32, legacy_string

KEY_AND_VERSION = struct.Struct(">hh")
SIZE = struct.Struct(">i")
TAGS = 128  # bytes of tagged fields in a header
CLIENT_ID = struct.Struct(">8xh")  # the length of a client id, behind key, version and correlation id
LONGEST_OF_RESPONSE = 4 + TAGS  # bytes of a response's header
UNSUPPORTED_VERSION = (35).to_bytes(2, "big")


class RequestHeader(Message):
    """The header of every request."""

    request_api_key: int16
    request_api_version: int16
    correlation_id: int32
    client_id: legacy_string | None = since(1, default=None)

    @classmethod
    def is_flexible(cls, version: int) -> bool:
        """Tagged fields came with header v2."""
        return version >= 2


class ResponseHeader(Message):
    """The header of every response."""

    correlation_id: int32

    @classmethod
    def is_flexible(cls, version: int) -> bool:
        """Tagged fields came with header v1."""
        return version >= 1


def request_header_version(key: int, version: int) -> int:
    """The version of the header before a request, even if the request's version is unknown. Raises ProtocolError."""
    api = APIS.get(key)
    if api is None:
        raise ProtocolError(f"no API has the key {key}", fault=Fault.CLIENT, field="request_api_key", position=0)
    if version < 0:
        raise ProtocolError(f"no version is {version}", fault=Fault.CLIENT, api=api.name, position=2)
    return api.request_header(version)


def read_request_header(frame: bytes) -> tuple[RequestHeader, int]:
    """The header of a request, and where its body begins. Raises ProtocolError."""
    if len(frame) < KEY_AND_VERSION.size:
        raise ProtocolError("a request has 8 bytes at the least", fault=Fault.CLIENT, position=len(frame))
    return decode_prefix(RequestHeader, request_header_version(*KEY_AND_VERSION.unpack_from(frame)), frame, 0)


def request_body_offset(api: Api, version: int, data: bytes | memoryview, start: int) -> int | None:
    """Where the body begins in a request whose header begins at `start`.

    None: more bytes are needed, or its tagged fields are too long.
    """
    try:
        (length,) = CLIENT_ID.unpack_from(data, start)
        data = data[: start + CLIENT_ID.size + max(length, 0) + TAGS]
        offset = skipper(RequestHeader, api.request_header(version))(data, start)
    except BAD_BYTES:
        return None
    return offset if offset <= len(data) else None


def response_body_offset(api: Api, version: int, data: bytes | memoryview) -> int | None:
    """Where the body begins in a response that begins with `data`, size included. None: as `request_body_offset`."""
    data = data[: SIZE.size + LONGEST_OF_RESPONSE]
    try:
        offset = skipper(ResponseHeader, api.response_header(version))(data, SIZE.size)
    except BAD_BYTES:
        return None
    return offset if offset <= len(data) else None


def read_response_header(api: Api, version: int, frame: Buffer) -> tuple[ResponseHeader, int]:
    """The header of the response to such a request, and where its body begins. Raises ProtocolError."""
    return decode_prefix(ResponseHeader, api.response_header(version), bytes(frame[:LONGEST_OF_RESPONSE]), 0)


def request_frame(request: Request, version: int, correlation_id: int, client_id: str | None) -> bytes:
    """A whole request, size and header included. Raises ProtocolError."""
    header = RequestHeader(
        request_api_key=request.api.key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    return _frame(encode(header, request.api.request_header(version)), encode(request, version))


def response_frame(response: Response, version: int, correlation_id: int) -> bytes:
    """A whole response, size and header included. Raises ProtocolError."""
    header = ResponseHeader(correlation_id=correlation_id)
    return _frame(encode(header, response.api.response_header(version)), encode(response, version))


def slice_response_frame(response: Response, version: int, correlation_id: int) -> Sliced[list[Buffer]]:
    """The same in slices, and in pieces."""
    header = encode(ResponseHeader(correlation_id=correlation_id), response.api.response_header(version))
    return framed(header, (yield from slice_encode(response, version)))


def framed(header: Buffer, body: list[Buffer]) -> list[Buffer]:
    """A whole frame in pieces, from a body in pieces."""
    begins = SIZE.pack(len(header) + sum(map(len, body))) + bytes(header)
    return [begins + body[0], *body[1:]] if len(body[0]) < UNJOINED else [begins, *body]


def _frame(header: bytes, body: bytes) -> bytes:
    return SIZE.pack(len(header) + len(body)) + header + body


def answered_version(api: Api, version: int, body: Buffer) -> int:
    """The version of an answer: the request's, unless the broker did not know that version.

    Only ApiVersions is answered then: in v0, with error 35 (KIP-511), which a broker gives in no other case.
    """
    return 0 if api is API_VERSIONS and body[:2] == UNSUPPORTED_VERSION else version
