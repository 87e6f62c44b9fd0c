"""Asking a broker on a connection of our own, one question at a time.

Rules:
* A broker that does not take a question may have said why before: what it said is read all the same.
"""

from __future__ import annotations

import secrets
import struct
from contextlib import suppress
from typing import TypeVar

import trio

from proxy.net.tls.sayings import TlsError
from proxy.protocol.codec import picker
from proxy.protocol.frame import FOREIGN
from proxy.protocol.header import answered_version, read_response_header, request_frame
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Request, Response

CLIENT_ID = "doorkeeper"
SIZE = struct.Struct(">i")
LARGEST = 100 << 20
R = TypeVar("R", bound=Response)


def new_mark() -> str:
    """A client id that no other proxy has. `loops.py` says what it is for."""
    return f"{CLIENT_ID}-{secrets.token_hex(8)}"


class EndedError(Exception):
    """The broker closed the connection before it answered."""


async def ask(
    stream: trio.abc.Stream,
    request: Request,
    version: int,
    expected: type[R],
    *fields: str,
    client_id: str = CLIENT_ID,
) -> R:
    """The answer, or only these fields of it. Raises EndedError, ProtocolError, and TlsError where TLS has a reason."""
    with suppress(trio.BrokenResourceError):
        await stream.send_all(request_frame(request, version, correlation_id=0, client_id=client_id))
    try:
        (size,) = SIZE.unpack(await _exactly(stream, SIZE.size))
        if not 0 <= size <= LARGEST:
            raise ProtocolError(f"it answered with {FOREIGN.get(SIZE.pack(size), 'something else')}")
        frame = await _exactly(stream, size)
    except trio.BrokenResourceError as error:
        raise (error.__cause__ if isinstance(error.__cause__, TlsError) else EndedError()) from None
    _, body = read_response_header(request.api, version, frame)
    spoken = answered_version(request.api, version, frame[body:])
    answer: R = picker(expected, spoken, *fields or expected.field).decode(frame[body:])
    return answer


async def _exactly(stream: trio.abc.Stream, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = await stream.receive_some(min(size - len(data), 1 << 20))
        if not chunk:
            raise EndedError
        data += chunk
    return bytes(data)
