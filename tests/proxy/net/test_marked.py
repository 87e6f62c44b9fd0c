"""Who asks is seen before there is a link, and nothing of what it sent is lost."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
import trio

from plugins.api_versions import LOOP
from proxy.net.asking import CLIENT_ID, is_mark, new_mark
from proxy.net.marked import answer_loop, mark_of
from proxy.protocol.codec import decode
from proxy.protocol.frame import SIZE
from proxy.protocol.header import read_response_header, request_frame
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from tests.proxy.net.scripted import HEARTBEAT_REQUEST

MARK = f"{CLIENT_ID}-0123456789abcdef"
QUESTION = request_frame(ApiVersionsRequest(), 0, 0, MARK)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The client's end, and the proxy's."""
    client, here = socket.socketpair()
    here.setblocking(False)
    with client, here:
        yield client, here


Ends = tuple[socket.socket, socket.socket]


def test_each_doorkeeper_has_a_mark_of_its_own() -> None:
    marks = {new_mark() for _ in range(100)}
    assert len(marks) == 100
    assert all(map(is_mark, (*marks, MARK)))


async def test_a_doorkeeper_is_known_by_its_mark(ends: Ends) -> None:
    client, here = ends
    client.send(QUESTION)
    assert await mark_of(here) == MARK
    assert here.recv(1_000) == QUESTION


@pytest.mark.parametrize(
    "first",
    [
        request_frame(ApiVersionsRequest(), 0, 0, "an-application"),
        request_frame(ApiVersionsRequest(), 0, 0, None),
        request_frame(ApiVersionsRequest(), 0, 0, "x" * 10_000),
        request_frame(HEARTBEAT_REQUEST, 4, 0, MARK),
        QUESTION[:7],
        b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=["an application", "nobody", "a long name", "another API", "a part of a head", "HTTP"],
)
async def test_any_other_client_is_none(ends: Ends, first: bytes) -> None:
    client, here = ends
    client.send(first)
    assert await mark_of(here) is None
    assert here.recv(1_000) == first[:1_000]


async def test_a_client_that_leaves_or_says_nothing_is_none(ends: Ends, autojump_clock: trio.testing.MockClock) -> None:
    client, here = ends
    assert await mark_of(here) is None
    client.close()
    assert await mark_of(here) is None


def test_the_answer_says_that_it_is_a_loop(ends: Ends) -> None:
    client, here = ends
    client.send(QUESTION)
    answer_loop(here)
    answer = client.recv(1_000)[SIZE.size :]
    _, body = read_response_header(ApiVersionsRequest.api, 0, answer)
    assert decode(ApiVersionsResponse, 0, answer[body:]).error_code == LOOP
    client.close()
    answer_loop(here)
