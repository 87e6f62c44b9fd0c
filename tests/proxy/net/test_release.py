"""A closed conversation is freed at once, however it ended: nothing is left with the garbage collector off.

Each ending is played on real sockets; afterwards objects of the types below are counted. A reference cycle through any
of them, also one through a traceback, would keep it alive.
"""

from __future__ import annotations

import gc
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import structlog
import trio
from trio.testing import wait_all_tasks_blocked

from proxy import logs
from proxy.config import Config
from proxy.core.context import Connection, Context
from proxy.core.decisions import Ask, Call, Decision, Disconnect, Sleep, Steps
from proxy.core.decorators import on_request, on_response
from proxy.core.gate import LinkGate
from proxy.core.inflight import InFlight
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.core.readers import AcksReader, Ending
from proxy.core.requests import Requests
from proxy.core.responses import Responses
from proxy.core.task import Task
from proxy.core.wanted import Wanted
from proxy.net.conversation import Conversation
from proxy.net.side import Side
from proxy.net.tls.sockets import TlsSocket
from proxy.protocol.frame import SIZE
from proxy.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from proxy.protocol.splitter import Splitter
from tests.certificates import Authority
from tests.proxy.core.frames import heartbeat, heartbeat_answer, produce
from tests.proxy.net.otherwise import Otherwise
from tests.proxy.net.scripted import LOOPBACK, PATIENCE, Broker, configuration, connected, port_of, serving
from tests.proxy.net.test_reactor import World, receive, world

LIVING = (AcksReader, Conversation, Connection, Context, Ending, HeartbeatRequest, HeartbeatResponse, InFlight, Link)
LIVING += (LinkGate, Requests, Responses, Side, Splitter, Task, TlsSocket, Wanted)
AT_ONCE = b"\1\0\0\0\0\0\0\0"  # SO_LINGER: a close is a reset
HUGE = produce(1, acks=1, records=b"r" * (4 << 20))


class Waiting(Plugin):
    """Lets every Heartbeat wait for days."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Sleep(1e6)
        return None


class Late(Plugin):
    """Lets every answer to a Heartbeat wait for days."""

    @on_response(HeartbeatResponse)
    def heartbeat(self, ctx: Context, response: HeartbeatResponse) -> Steps:
        yield Sleep(1e6)
        return None


class Asking(Plugin):
    """Asks the broker before every Heartbeat."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 4)
        return None


class Failing(Plugin):
    """Raises on every Heartbeat, and says no when that was noted on the connection."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Decision:
        if ctx.connection.notes.setdefault("circle", ctx) is ctx:
            raise ValueError("this handler fails")
        return Disconnect("enough")


class FailingLater(Plugin):
    """Raises on every Heartbeat after a while, and what was raised in a thread."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Sleep(0.001)
        yield Call(lambda: 1 // 0)
        return None


class FailingAnswers(Plugin):
    """Raises on every answer to a Heartbeat."""

    @on_response(HeartbeatResponse)
    def heartbeat(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        raise ValueError("this handler fails")


class FailingBeside(Plugin):
    """Raises beside the conversation."""

    def connected(self, connection: Connection) -> Steps:
        yield Call(lambda: 1 // 0)
        return None


End = trio.SocketStream
Play = Callable[[World, End, End], Awaitable[None]]


async def client_closes(here: World, client: End, broker: End) -> None:
    await client.send_all(heartbeat(1))
    await receive(broker, len(heartbeat(1)))
    await client.aclose()
    await broker.send_all(heartbeat_answer(1))


async def client_is_gone_with_half_a_frame(here: World, client: End, broker: End) -> None:
    await client.send_all(HUGE[:100_000])
    await wait_all_tasks_blocked(0.01)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    await client.aclose()


async def broker_closes(here: World, client: End, broker: End) -> None:
    await client.send_all(heartbeat(1))
    await wait_all_tasks_blocked(0.01)
    await broker.aclose()


async def client_is_no_kafka(here: World, client: End, broker: End) -> None:
    await client.send_all(b"GET / HTTP/1.1\r\n\r\n")


async def broker_is_no_kafka(here: World, client: End, broker: End) -> None:
    await broker.send_all(b"HTTP/1.1 200 OK\r\n\r\n")


async def frame_ends_early(here: World, client: End, broker: End) -> None:
    frame = heartbeat(1)[:-3]
    await client.send_all(SIZE.pack(len(frame) - SIZE.size) + frame[SIZE.size :])


async def answer_ends_early(here: World, client: End, broker: End) -> None:
    await client.send_all(heartbeat(1))
    await receive(broker, len(heartbeat(1)))
    frame = heartbeat_answer(1)[:-3]
    await broker.send_all(SIZE.pack(len(frame) - SIZE.size) + frame[SIZE.size :])


async def answered(here: World, client: End, broker: End) -> None:
    await client.send_all(heartbeat(1))
    await receive(broker, len(heartbeat(1)))
    await broker.send_all(heartbeat_answer(1))
    await wait_all_tasks_blocked(0.01)
    await client.aclose()
    await broker.aclose()


async def answered_late(here: World, client: End, broker: End) -> None:
    await client.send_all(heartbeat(1))
    await receive(broker, len(heartbeat(1)))
    await broker.send_all(heartbeat_answer(1))
    await wait_all_tasks_blocked(0.01)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    await client.aclose()


async def twice(here: World, client: End, broker: End) -> None:
    for number in (1, 2):
        await client.send_all(heartbeat(number))
        await wait_all_tasks_blocked(0.02)
    await broker_closes(here, client, broker)


async def ended_from_outside(here: World, client: End, broker: End) -> None:
    await client.send_all(HUGE[:100_000])
    await broker.send_all(heartbeat_answer(1)[:5])
    await wait_all_tasks_blocked(0.01)
    here.reactor.end(next(iter(here.reactor.conversations)), "enough")


async def client_takes_nothing(here: World, client: End, broker: End) -> None:
    await client.send_all(heartbeat(1))
    await receive(broker, len(heartbeat(1)))
    size = 8 << 20
    with trio.move_on_after(0.2):
        await broker.send_all(SIZE.pack(size) + heartbeat(1)[8:12] + b"x" * size)
    await broker.aclose()
    await client.aclose()


async def drained(here: World, client: End, broker: End) -> None:
    await client.send_all(heartbeat(1))
    await receive(broker, len(heartbeat(1)))
    here.reactor.drain(here.reactor.conversations)
    await broker.send_all(heartbeat_answer(1))


async def crashes(here: World, client: End, broker: End) -> None:
    (conversation,) = here.reactor.conversations

    def crash(data: memoryview) -> None:
        raise RuntimeError("a bug")

    conversation.link = Otherwise(conversation.link, receive_client=crash)
    await client.send_all(heartbeat(1))


ENDINGS: list[tuple[Play, type[Plugin] | None]] = [
    *((play, None) for play in (client_closes, client_is_gone_with_half_a_frame, broker_closes, ended_from_outside)),
    *((play, None) for play in (client_is_no_kafka, broker_is_no_kafka, client_takes_nothing, drained, crashes)),
    (client_is_gone_with_half_a_frame, Waiting),
    (frame_ends_early, Waiting),
    (broker_closes, Waiting),
    (answered_late, Late),
    (answer_ends_early, Late),
    (broker_closes, Asking),
    (twice, Failing),
    (twice, FailingLater),
    (answered, FailingAnswers),
    (answered, FailingBeside),
]


def living() -> Counter[str]:
    """How many there are of what belongs to conversations."""
    return Counter(type(each).__name__ for each in gc.get_objects() if isinstance(each, LIVING))


@pytest.fixture
def no_collector(no_collector: None) -> Iterator[None]:
    logs.configure(StringIO().write, "json")
    yield
    structlog.reset_defaults()


@asynccontextmanager
async def nothing_left() -> AsyncIterator[World]:
    async with world() as here:
        gc.disable()  # the reactor may have thought otherwise
        before = living()
        yield here
        for end in here.ends:
            end.socket.close()
        await wait_all_tasks_blocked(0.01)
        here.events.clear()
        assert living() - before == Counter()


@pytest.mark.parametrize(("play", "plugin"), ENDINGS, ids=lambda each: getattr(each, "__name__", "") or "nobody")
async def test_nothing_is_left_of_a_conversation(play: Play, plugin: type[Plugin] | None, no_collector: None) -> None:
    async with nothing_left() as here:
        for count in (1, 2, 3):
            await play(here, *here.link(*([plugin()] if plugin else [])))
            await here.until_over(count)


async def test_what_a_thread_still_works_for_is_an_empty_shell(no_collector: None) -> None:
    release = trio.Event()

    class Busy(Plugin):
        @on_request(HeartbeatRequest)
        def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
            yield Call(lambda: trio.from_thread.run(release.wait))
            return None

    async with world() as here:
        before = living()
        client, broker = here.link(Busy())
        await client.send_all(heartbeat(1) + HUGE[:100_000])
        await wait_all_tasks_blocked(0.02)
        await broker.aclose()
        await here.until_over()
        left = living() - before
        assert not {"Requests", "Responses", "Context", "LinkGate", "Task", "Wanted"} & left.keys()
        release.set()
        with trio.fail_after(PATIENCE):
            while living() - before:  # until the thread is done, too
                await wait_all_tasks_blocked(0.02)


async def test_nothing_is_left_of_clients_whose_broker_cannot_be_reached(broker: Broker, no_collector: None) -> None:
    config = configuration(broker.endpoint)
    async with serving(config):
        broker.die()
        gc.disable()
        before = living()
        for _ in range(3):
            async with connected(LOOPBACK, port_of(config, 1)) as client:
                assert await client.is_closed()
        await wait_all_tasks_blocked(0.05)
        assert living() - before == Counter()


async def test_nothing_is_left_of_clients_that_fail_at_tls(broker: Broker, tmp_path: Path, no_collector: None) -> None:
    authority = Authority(tmp_path)
    authority.issue("server", LOOPBACK)
    tls = {"certificate": str(tmp_path / "server.pem"), "key": str(tmp_path / "server.key")}
    said: dict[str, Any] = configuration(broker.endpoint).model_dump(exclude_unset=True)
    said["listeners"]["clients"]["tls"] = tls
    config = Config.model_validate(said | {"limits": {"handshake": "100ms"}})
    async with serving(config):
        gc.disable()
        before = living()
        for first in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b""):
            async with connected(LOOPBACK, port_of(config, 1)) as client:
                await client.send(first)
                assert await client.is_closed()
        await wait_all_tasks_blocked(0.05)
        assert living() - before == Counter()
