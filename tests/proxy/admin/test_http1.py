"""HTTP/1.1 only, over real sockets: one of Hypercorn's classes is replaced, and a new version may no longer use it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio
import trio.testing

from proxy.admin.server import IDLE, serve_admin
from proxy.config.model import Admin
from proxy.core.topology import Endpoint
from proxy.net.bind import listen
from tests.proxy.admin.served import made, nobody_closed
from tests.real.ports import free_port

LOOPBACK = "127.0.0.1"
PATIENCE = 2 * IDLE  # seconds
PRIOR_KNOWLEDGE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
UPGRADE = (
    b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\n"
    b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n"
)
WEBSOCKET = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n"
KEY = b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"


@asynccontextmanager
async def connected() -> AsyncIterator[trio.SocketStream]:
    """A connection to an admin side."""
    port = free_port(LOOPBACK)
    options = Admin.model_validate({"bind": f"{LOOPBACK}:{port}"})
    (listening,) = listen(Endpoint(LOOPBACK, port), "admin.bind")
    with trio.fail_after(PATIENCE), listening:
        async with trio.open_nursery() as nursery:
            await nursery.start(serve_admin, [listening], partial(made, options), nobody_closed)
            async with await trio.open_tcp_stream(LOOPBACK, port) as stream:
                yield stream
            nursery.cancel_scope.cancel()


async def told(stream: trio.SocketStream) -> bytes:
    """All that it says until it closes."""
    said = bytearray()
    try:
        async for data in stream:
            said += data
    except trio.BrokenResourceError:  # it did not read what came later
        pass
    return bytes(said)


async def test_who_begins_with_http_2_is_answered_by_http_1_and_closed() -> None:
    async with connected() as stream:
        await stream.send_all(PRIOR_KNOWLEDGE)
        answer = await told(stream)
    assert answer.startswith(b"HTTP/1.1 4"), answer


async def test_an_upgrade_to_http_2_is_not_taken() -> None:
    async with connected() as stream:
        await stream.send_all(UPGRADE + UPGRADE.replace(b"Upgrade, ", b"close, "))
        answer = await told(stream)
    assert b" 101 " not in answer
    assert answer.count(b"HTTP/1.1 200") == 2, answer


@pytest.mark.parametrize("more", [b"", KEY], ids=["a bad one", "a good one"])
async def test_an_upgrade_to_websocket_is_not_taken(more: bytes) -> None:
    last = WEBSOCKET.replace(b"Connection: ", b"Connection: close, ")
    async with connected() as stream:
        await stream.send_all(WEBSOCKET + more + b"\r\n" + last + more + b"\r\n")
        answer = await told(stream)
    assert answer.count(b"HTTP/1.1 200") == 2, answer


@pytest.mark.parametrize("more", [b"", KEY, b"Content-Length: 2\r\n"], ids=["a bad one", "a good one", "with a body"])
async def test_who_asked_for_websocket_and_then_is_silent_is_closed(
    more: bytes, mock_clock: trio.testing.MockClock
) -> None:
    async with connected() as stream:
        await stream.send_all(WEBSOCKET + more + b"\r\n" + (b"{}" if b"Length" in more else b""))
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 ")
        mock_clock.autojump_threshold = 0.05
        await told(stream)


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (b"http://127.0.0.1:9190/health", 200),
        (b"HTTP://127.0.0.1/health?a=http://b/c", 200),
        (b"http://elsewhere.example.com/health", 200),
        (b"http://127.0.0.1/faults", 200),
        (b"http://elsewhere.example.com/faults", 403),
        (b"http://127.0.0.1@elsewhere.example.com/faults", 403),
        (b"http://127.0.0.1", 404),
        (b"http://127.0.0.1?/health", 404),
        (b"http:///health", 404),
    ],
)
async def test_the_host_of_a_target_in_absolute_form_counts_in_place_of_the_header(target: bytes, status: int) -> None:
    async with connected() as stream:
        await stream.send_all(b"GET %b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % target)
        answer = await told(stream)
    assert answer.startswith(b"HTTP/1.1 %d" % status), answer
