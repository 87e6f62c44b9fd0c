"""Messages of every API and version in one stream come out the same, however the stream is split."""

import itertools
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.api import APIS
from proxy.protocol.codec import decode
from proxy.protocol.frame import REQUEST_HEAD, SIZE
from proxy.protocol.header import read_request_header, request_frame
from proxy.protocol.problem import Fault
from proxy.protocol.schema import Request
from proxy.protocol.splitter import Splitter
from tests.proxy.protocol.generate import EVERY, make

REQUESTS = [(cls, version) for cls, version in EVERY if issubclass(cls, Request)]


class Messages:
    """Reads every frame of a stream as a request."""

    whole = True

    def __init__(self) -> None:
        self.read_so_far: list[tuple[Request, int, int, str | None]] = []
        self.splitter = Splitter(REQUEST_HEAD, lambda head, data, pos: self, Fault.CLIENT)

    def read(self, span: memoryview, last: bool) -> None:
        frame = bytes(span[SIZE.size :])
        header, offset = read_request_header(frame)
        version = header.request_api_version
        message: Any = decode(APIS[header.request_api_key].request, version, frame[offset:])
        self.read_so_far.append((message, version, header.correlation_id, header.client_id))


@given(
    st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=5),
    st.integers(0, 1 << 30),
    st.none() | st.text(max_size=20),
    st.lists(st.integers(0, 1 << 16), max_size=20),
)
def test_a_stream_of_requests_is_read_the_same_in_any_chunks(
    kinds: list[tuple[type[Request], int]], seed: int, client_id: str | None, cuts: list[int]
) -> None:
    dice = random.Random(seed)
    sent = [
        (make(cls, version, dice), version, number, client_id if cls.api.request_header(version) else None)
        for number, (cls, version) in enumerate(kinds)
    ]
    stream = b"".join(request_frame(message, version, number, name) for message, version, number, name in sent)
    messages = Messages()
    edges = sorted({0, len(stream), *(cut % len(stream) for cut in cuts)})
    left = b""
    for start, end in itertools.pairwise(edges):
        spans = messages.splitter.feed(memoryview(stream[start:end]))
        left += stream[start:end] if spans is None else b"".join(map(bytes, spans))
    assert left == stream
    assert messages.read_so_far == sent


def test_every_request_is_read_byte_by_byte() -> None:
    dice = random.Random(1)
    messages = Messages()
    sent = []
    for cls, version in REQUESTS:
        message = make(cls, version, dice)
        sent.append(message)
        for byte in request_frame(message, version, 1, "client"):
            messages.splitter.feed(memoryview(bytes((byte,))))
    assert [message for message, *_ in messages.read_so_far] == sent
