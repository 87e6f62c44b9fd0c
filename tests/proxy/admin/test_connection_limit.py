"""The connection limit, over real sockets: Hypercorn's own tasks and timers are part of what is tested."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import httpx
import pytest
import trio
import trio.testing
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from proxy.admin.connection_limit import MOST
from proxy.admin.server import serve_admin
from proxy.config.model import Admin
from proxy.core.topology import Endpoint
from proxy.net.bind import listen
from tests.proxy.admin.served import made
from tests.real.ports import free_port

ROOT = Path(__file__).parents[3]
LOOPBACK = "127.0.0.1"
PATIENCE = 60.0  # seconds
MANY = MOST + 100
ASKING = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE = b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n" + bytes(1 << 20)
CHUNKED = b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"1\r\nx\r\n"
QUEUE = 10  # chunks that Hypercorn keeps for an application


class Served:
    """An admin side, the clients that it closed for others, and some who hold connections to it."""

    def __init__(self, port: int, stack: AsyncExitStack) -> None:
        self.port = port
        self.url = f"http://{LOOPBACK}:{port}"
        self.closed: list[str] = []
        self._stack = stack

    async def connect(self, said: bytes = b"") -> trio.SocketStream:
        """A connection that stays open, with this as its first bytes."""
        stream = await self._stack.enter_async_context(await trio.open_tcp_stream(LOOPBACK, self.port))
        await stream.send_all(said)
        return stream

    async def hold(self, count: int = MANY, said: bytes = b"") -> list[trio.SocketStream]:
        """Connections that stay open. When they are given, the server has accepted all of them."""
        held = [await self.connect(said) for _ in range(count)]
        await trio.testing.wait_all_tasks_blocked(0.05)
        return held


@asynccontextmanager
async def served(application: Callable[[], Starlette] | None = None) -> AsyncIterator[Served]:
    port = free_port(LOOPBACK)
    make = application or partial(made, Admin.model_validate({"bind": f"{LOOPBACK}:{port}"}))
    (listening,) = listen(Endpoint(LOOPBACK, port), "admin.bind", untaken=PATIENCE)
    with trio.fail_after(PATIENCE), listening:
        async with trio.open_nursery() as nursery, AsyncExitStack() as stack:
            found = Served(port, stack)
            await nursery.start(serve_admin, [listening], make, found.closed.append)
            yield found
            nursery.cancel_scope.cancel()


class Slow:
    """An application that answers when it may. It does not read the body."""

    def __init__(self, size: int = 2) -> None:
        self.asked = trio.Event()
        self.may_answer = trio.Event()
        self.answered = trio.Event()
        self._size = size

    def __call__(self) -> Starlette:
        return Starlette(routes=[Route("/", self._answer)])

    async def _answer(self, request: Request) -> PlainTextResponse:
        self.asked.set()
        await self.may_answer.wait()
        self.answered.set()
        return PlainTextResponse("x" * self._size)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def ended(stream: trio.SocketStream) -> bool:
    """Whether the server ends the connection. What it sent before is discarded."""
    try:
        while await stream.receive_some():
            pass
    except trio.BrokenResourceError:  # it did not read all that was sent
        pass
    return True


@pytest.mark.parametrize("page", ["proxy/admin/README.md", "deploy/SECURITY.md"])
def test_the_pages_say_how_many_there_may_be(page: str) -> None:
    assert f" {MOST} connections at " in (ROOT / page).read_text(encoding="utf-8")


async def test_a_scrape_is_answered_while_a_stranger_holds_silent_connections() -> None:
    async with served() as it, httpx.AsyncClient(base_url=it.url) as scraper:
        before = descriptors()
        held = await it.hold()
        for path in ("/metrics", "/health"):
            assert (await scraper.get(path)).status_code == 200
        assert descriptors() - before <= MANY + MOST + 1
        for stream in held[: MANY - MOST]:  # the oldest
            assert await ended(stream)
        assert it.closed == [LOOPBACK] * (MANY - MOST + 1)


async def test_a_client_that_asks_now_and_then_keeps_its_connection() -> None:
    async with served() as it, httpx.AsyncClient(base_url=it.url) as client:
        ports = set()
        for _ in range(6):
            answer = await client.get("/health")
            ports.add(answer.extensions["network_stream"].get_extra_info("client_addr"))
            await it.hold(MOST // 2)
        assert len(ports) == 1
        assert it.closed


async def test_a_client_whose_connection_was_closed_has_another_one_and_is_answered() -> None:
    async with served() as it, httpx.AsyncClient(base_url=it.url) as client:
        for _ in range(3):
            assert (await client.get("/health")).status_code == 200
            await it.hold()


async def test_a_connection_that_its_client_closes_gives_its_place_back_at_once() -> None:
    async with served() as it:
        before = descriptors()
        for _ in range(MANY):
            await (await trio.open_tcp_stream(LOOPBACK, it.port)).aclose()
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert descriptors() == before
        assert it.closed == []


async def test_a_client_that_sends_no_more_still_gets_its_response() -> None:
    slow = Slow()
    async with served(slow) as it:
        before = descriptors()
        async with await trio.open_tcp_stream(LOOPBACK, it.port) as client:
            await client.send_all(ASKING)
            await client.send_eof()
            await slow.asked.wait()
            await trio.testing.wait_all_tasks_blocked(0.05)
            slow.may_answer.set()
            said = b"".join([part async for part in client])
            assert said.startswith(b"HTTP/1.1 200")
            assert said.endswith(b"xx")
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert descriptors() == before


async def test_a_change_is_finished_although_the_connection_of_its_client_was_closed() -> None:
    slow = Slow()
    async with served(slow) as it:
        client = await it.connect(ASKING)
        await slow.asked.wait()
        await it.hold()
        assert await ended(client)
        assert not slow.answered.is_set()
        slow.may_answer.set()
        await slow.answered.wait()
        async with httpx.AsyncClient(base_url=it.url) as another:
            assert (await another.get("/")).text == "xx"


@pytest.mark.parametrize(
    ("size", "said"),
    [(2, LARGE), (8 << 20, ASKING * 1_000)],
    ids=["a body that is not read", "pipelined responses that are not taken"],
)
async def test_no_task_and_no_descriptor_stays_for_a_connection_that_was_closed(size: int, said: bytes) -> None:
    slow = Slow(size)
    async with served(slow) as it:
        tasks, before = trio.lowlevel.current_statistics().tasks_living, descriptors()
        client = await trio.open_tcp_stream(LOOPBACK, it.port)
        async with client, trio.open_nursery() as nursery:
            nursery.start_soon(sent_until_closed, client, said)
            await slow.asked.wait()
            await trio.testing.wait_all_tasks_blocked(0.05)  # until no more of the body is read
            held = await it.hold(MOST)
            slow.may_answer.set()
            await slow.answered.wait()
        for stream in held:
            await stream.aclose()
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert it.closed == [LOOPBACK]
        assert trio.lowlevel.current_statistics().tasks_living == tasks
        assert descriptors() == before


@pytest.mark.parametrize(
    "said",
    [LARGE, CHUNKED + CHUNK * (QUEUE + 5), CHUNKED + CHUNK * QUEUE + b"0\r\n\r\n", CHUNKED + CHUNK * QUEUE + b"what"],
    ids=["it is large", "it is many chunks", "its end waits", "it is broken"],
)
async def test_a_body_that_is_not_read_keeps_no_connection_open(said: bytes) -> None:
    slow = Slow()
    async with served(slow) as it:
        tasks, before = trio.lowlevel.current_statistics().tasks_living, descriptors()
        async with await trio.open_tcp_stream(LOOPBACK, it.port) as client, trio.open_nursery() as nursery:
            nursery.start_soon(sent_until_closed, client, said)
            await slow.asked.wait()
            await trio.testing.wait_all_tasks_blocked(0.05)  # until no more of the body is read
            slow.may_answer.set()
            assert await ended(client)
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert trio.lowlevel.current_statistics().tasks_living == tasks
        assert descriptors() == before
        assert it.closed == []


async def sent_until_closed(stream: trio.SocketStream, data: bytes) -> None:
    """Send this, or as much of it as the server takes until it closes."""
    with suppress(trio.BrokenResourceError):
        await stream.send_all(data)
