"""Bodies <-> messages: compiled on first use, one function for each message, version and purpose.

Rules:
* A body starts after its header. Bytes that are no message raise `ProtocolError`, and no other exception.
* Compiled functions are kept; a message that nobody sends costs nothing.
* A function whose name begins with `slice_` does the same as its namesake, in slices, for large messages (`slices.py`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from proxy.protocol import emit
from proxy.protocol.blame import FAULT, blame_bytes, blame_message, slice_blame_bytes, slice_blame_message
from proxy.protocol.emit import finders
from proxy.protocol.frame import Buffer
from proxy.protocol.plan import Plan, plan
from proxy.protocol.problem import ProtocolError, TooManyElementsError
from proxy.protocol.schema import Message
from proxy.protocol.slices import Sliced, TooMany, TooManyOthers, others
from proxy.protocol.varint import Short

BAD_BYTES = (Short, TooMany, IndexError, struct.error, UnicodeDecodeError)
BAD_MESSAGE = (struct.error, AttributeError, TypeError, ValueError)  # UnicodeEncodeError is a ValueError

M = TypeVar("M", bound=Message)


def laid_out(cls: type[Message], version: int) -> tuple[Plan, str]:
    """The layout of this message in this version, and its title. Raises ProtocolError for an unknown version."""
    if cls.api is not None and version not in cls.api.versions:
        raise ProtocolError(f"knows versions 0 to {cls.api.newest}, not {version}", api=cls.title())
    return plan(cls, version), f"{cls.title()} v{version}"


@cache
def _decoder(cls: type[Message], version: int) -> Any:
    return emit.decoder(*laid_out(cls, version))


@cache
def _encoder(cls: type[Message], version: int) -> Any:
    return emit.encoder(*laid_out(cls, version))


@cache
def _slicing_decoder(cls: type[Message], version: int) -> Any:
    return emit.decoder(*laid_out(cls, version), sliced=True)


@cache
def _slicing_encoder(cls: type[Message], version: int) -> Any:
    return emit.encoder(*laid_out(cls, version), sliced=True)


def decode(cls: type[M], version: int, body: bytes | memoryview) -> M:
    """The message that `body` is, all of it. Raises ProtocolError."""
    data = body if type(body) is bytes else bytes(body)
    message, end = decode_prefix(cls, version, data, 0)
    if end != len(data):
        raise blame_bytes(cls, version, data)
    return message


def decode_ignoring_rest(cls: type[M], version: int, body: bytes) -> M:
    """The message with which `body` begins. Bytes after it are ignored, as brokers and clients do.

    librdkafka sends three bytes too many with every flexible Metadata request for all topics. Raises ProtocolError.
    """
    message, _ = decode_prefix(cls, version, body, 0)
    return message


def decode_prefix(cls: type[M], version: int, data: bytes, start: int) -> tuple[M, int]:
    """The message that begins at `start`, and where it ends. Raises ProtocolError."""
    try:
        message, end = _decoder(cls, version)(data, start)
    except BAD_BYTES:
        raise blame_bytes(cls, version, data[start:]) from None
    if end > len(data):
        raise blame_bytes(cls, version, data[start:])
    return message, end


def slice_decode(cls: type[M], version: int, data: Buffer, start: int, most: int) -> Sliced[M]:
    """The message that begins at `start`, of at most `most` elements; bytes after it are ignored."""
    try:
        message, end = yield from _slicing_decoder(cls, version)(data, start, most)
        if end > len(data):
            raise Short
    except TooMany as error:
        raise too_many(cls, version, most, error) from None
    except BAD_BYTES:
        raise (yield from slice_blame_bytes(cls, version, memoryview(data)[start:])) from None
    message.elements = most - message.elements
    return message  # type: ignore[no-any-return]


def too_many(cls: type[Message], version: int, most: int, error: TooMany) -> TooManyElementsError:
    """The error of a message with more elements than it may have."""
    what = f"{most:,} elements"
    if isinstance(error, TooManyOthers):
        what = f"{others(most):,} elements that are no partitions"
    return TooManyElementsError(f"has more than {what}", fault=FAULT.get(cls.side), api=cls.title(), version=version)


@cache
def skipper(cls: type[Message], version: int) -> Callable[[bytes | memoryview, int], int]:
    """A function from where a message begins to where it ends. If the bytes end early, it raises one of BAD_BYTES."""
    skip: Callable[[bytes | memoryview, int], int] = emit.skipper(*laid_out(cls, version))
    return skip


@cache
def tags_finder(cls: type[Message], version: int) -> Callable[[bytes | memoryview, int], int]:
    """A function from where a message begins to where its own tagged fields begin; otherwise as `skipper`."""
    layout, title = laid_out(cls, version)
    find: Callable[[bytes | memoryview, int], int] = emit.skipper(
        layout._replace(flexible=False), f"{title} up to tags"
    )
    return find


@cache
def end_finder(cls: type[Message], version: int, name: str) -> Callable[[bytes | memoryview, int], int]:
    """A function from where a message begins to where its field `name` ends; otherwise as `skipper`."""
    return _skipper_to(cls, version, name, 1)


@cache
def start_finder(cls: type[Message], version: int, name: str) -> Callable[[bytes | memoryview, int], int]:
    """A function from where a message begins to where its field `name` begins; otherwise as `skipper`."""
    return _skipper_to(cls, version, name, 0)


def _skipper_to(cls: type[Message], version: int, name: str, more: int) -> Callable[[bytes | memoryview, int], int]:
    layout, title = laid_out(cls, version)
    upto = layout._replace(flexible=False, steps=layout.steps[: layout.place(name) + more])
    find: Callable[[bytes | memoryview, int], int] = emit.skipper(upto, f"{title} up to {name}")
    return find


Spans = list[tuple[int, int]]


@cache
def spans_finder(cls: type[Message], version: int, *names: str) -> Callable[[bytes | memoryview, int], Spans]:
    """A function from where a message begins to where its fields of these names lie, at any depth, in order.

    The span of a field with a length is the part after the length. The last span is empty, where the message's own
    tagged fields begin. If the bytes end early, the function raises one of BAD_BYTES.
    """
    layout, title = laid_out(cls, version)
    find: Callable[[bytes | memoryview, int], Spans] = finders.noter(layout, frozenset(names), title)
    return find


def encode(message: Message, version: int) -> bytes:
    """The bytes of `message` in `version`; fields that the version lacks are left out. Raises ProtocolError."""
    try:
        body: bytes = _encoder(type(message), version)(message)
    except BAD_MESSAGE as problem:
        raise blame_message(message, version, problem) from None
    return body


def slice_encode(message: Message, version: int) -> Sliced[list[Buffer]]:
    """The bytes of `message` in pieces, in order; otherwise as `encode`."""
    try:
        pieces: list[Buffer] = yield from _slicing_encoder(type(message), version)(message)
    except BAD_MESSAGE as problem:
        raise (yield from slice_blame_message(message, version, problem)) from None
    return pieces
