"""Sent as: a request that the broker gets in another version than the client's, and its answer on the way back.

Rules:
* Handlers and observers see one message class, whatever the version towards either side.
* Headers change with the version; the correlation id and the client id stay.
* A loss that `losses.py` does not allow is an error, in a request as in its answer.
* A broker that gets ApiVersions in a version that it does not know answers in v0, with an error that no other answer
  has. So do we (KIP-511).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from proxy.core.filter_chain import FilterChain
from proxy.core.wanted import Wanted
from proxy.protocol.api import API_VERSIONS
from proxy.protocol.codec import encode, slice_decode, slice_encode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import in_slices
from proxy.protocol.frame import Buffer
from proxy.protocol.header import (
    answered_version,
    framed,
    read_request_header,
    slice_response_frame,
)
from proxy.protocol.losses import check_losses
from proxy.protocol.schema import Message, Response
from proxy.protocol.slices import Sliced


@dataclass(frozen=True, slots=True)
class SentAs:
    """A slot's mark: the chain of the request in the client's version, and the version in which the broker got it."""

    chain: FilterChain
    version: int

    sees_response: ClassVar[bool] = True  # `Responses` looks at this of every slot

    @property
    def may_wait(self) -> bool:
        """May the broker answer as late as the client likes?"""
        return self.chain.may_wait

    @property
    def in_turn(self) -> bool:
        """Was it decided when it was its turn at the broker?"""
        return self.chain.in_turn


def request_in(version: int, message: Message, wanted: Wanted, most: int) -> Sliced[list[Buffer]]:
    """The frame of this request, of at most `most` elements, in another version. Raises ProtocolError."""
    message = yield from _whole(message, wanted, most)
    yield from in_slices(check_losses, message, version)
    header, _ = read_request_header(wanted.header)
    header.request_api_version = version
    head = encode(header, wanted.chain.api.request_header(version))
    return framed(head, (yield from slice_encode(message, version)))


def _whole(message: Message, wanted: Wanted, most: int) -> Sliced[Message]:
    """The whole of a request of which only some fields were read; these keep the values that they have now."""
    if not message.has("opaque"):
        return message
    whole = yield from slice_decode(type(message), wanted.chain.version, wanted.frame, wanted.body, most)
    for field in message.fields:
        if message.has(field.name):
            setattr(whole, field.name, getattr(message, field.name))
    return whole


def read_answer(version: int, wanted: Wanted, most: int) -> Sliced[Message]:
    """The broker's answer to a request that it got in this version. Raises ProtocolError."""
    api, frame, body = wanted.chain.api, wanted.frame, wanted.body
    version = answered_version(api, version, frame[body : body + 2])
    return slice_decode(api.response, version, frame, body, most)


def answer_to_client(message: Message, wanted: Wanted) -> Sliced[list[Buffer]]:
    """The frame of this answer in the client's version. Raises ProtocolError."""
    assert isinstance(message, Response)
    version = wanted.chain.version
    if message.api is API_VERSIONS and message.error_code == ErrorCode.UNSUPPORTED_VERSION:
        version = 0
    yield from in_slices(check_losses, message, version)
    return (yield from slice_response_frame(message, version, wanted.number))
