"""Asking a broker on a connection of our own, one question at a time.

Rules:
* A broker that does not take a question may have said why before: what it said is read all the same.
* An answer is read in slices, so that a long one keeps nobody waiting. One that has too many elements is no answer.
"""

from __future__ import annotations

import re
import secrets
import struct
from contextlib import suppress
from typing import TypeVar

import trio

from proxy.net.tls.sayings import TlsError
from proxy.protocol.foreign import FOREIGN
from proxy.protocol.header import answered_version, read_response_header, request_frame
from proxy.protocol.picker import picker
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Request, Response
from proxy.protocol.slices import Sliced

CLIENT_ID = "doorkeeper"
MARK = re.compile(f"{CLIENT_ID}-[0-9a-f]{{16}}")
SIZE = struct.Struct(">i")
LARGEST = 32 << 20  # bytes of an answer: brokers before 0.10 name all topics where they are asked for brokers
ELEMENTS = 300_000  # of an answer
R = TypeVar("R", bound=Response)
T = TypeVar("T")


def new_mark() -> str:
    """A client id that no other proxy has. `loops.py` says what it is for."""
    return f"{CLIENT_ID}-{secrets.token_hex(8)}"


def is_mark(client_id: str | None) -> bool:
    """Is this the mark of a proxy?"""
    return client_id is not None and MARK.fullmatch(client_id) is not None


class EndedError(Exception):
    """The broker closed the connection before it answered."""


async def ask(
    stream: trio.abc.Stream,
    request: Request,
    version: int,
    expected: type[R],
    *fields: str,
    client_id: str = CLIENT_ID,
    most: int = ELEMENTS,
) -> R:
    """The answer, or only these fields of it, with at most so many elements.

    Raises EndedError, ProtocolError, and TlsError where TLS has a reason.
    """
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
    return await _with_turns(picker(expected, spoken, *fields or expected.field).slice_decode(frame, body, most))


async def _with_turns(work: Sliced[T]) -> T:
    """The result of this work. All other tasks have their turn after each slice."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result
        await trio.lowlevel.checkpoint()


async def _exactly(stream: trio.abc.Stream, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = await stream.receive_some(min(size - len(data), 1 << 20))
        if not chunk:
            raise EndedError
        data += chunk
    return bytes(data)
