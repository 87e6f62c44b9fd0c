"""The reactor, with real sockets: bytes from one side arrive at the other, whatever the sockets do."""

from __future__ import annotations

import random
import socket
import threading
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from proxy.core.commands import Close, Command, HalfClose, ToClient
from proxy.core.context import Context
from proxy.core.decisions import TURN, Call, Decision, Disconnect, Forward, How, Sleep, Steps, Wait
from proxy.core.decorators import on_request
from proxy.core.events import Closed, Connected, Event, ObserverFailed
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.plugin import Plugin
from proxy.core.signal import Signal
from proxy.core.topology import Endpoint
from proxy.net import bind
from proxy.net.backlog import BUFFER
from proxy.net.complaints import Complaints
from proxy.net.conversation import Conversation
from proxy.net.outgoing import AT_ONCE
from proxy.net.reactor import Reactor
from proxy.net.reading import LEAST, goodbye, read
from proxy.net.serving import GOODBYES
from proxy.net.side import PORTION, Side
from proxy.protocol.frame import SIZE
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.heartbeat import HeartbeatRequest
from proxy.testing import connection
from tests.proxy.core.frames import answering, asking, heartbeat, heartbeat_answer, produce
from tests.proxy.core.test_connection_events import Noting, Stumbling
from tests.proxy.core.test_decisions import Down
from tests.proxy.core.test_responses import Endpoints
from tests.proxy.net.otherwise import Otherwise

MIB = 1 << 20
BIG = produce(7, acks=1, records=b"r" * (3 * MIB))


class Late(Plugin):
    """Lets every Heartbeat wait a little."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Sleep(0.01)
        request.group_id = "late"
        return Forward(request)


class Elsewhere(Plugin):
    """Has something done in a thread for every Heartbeat, which may fail."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        here = threading.get_ident()
        request.group_id = "here" if (yield Call(threading.get_ident)) == here else "elsewhere"
        try:
            yield Call(lambda: 1 // 0)
        except ZeroDivisionError:
            return Forward(request)
        return None


class World:
    """A reactor, and links with real sockets to play both ends of."""

    def __init__(self, memory: int) -> None:
        self.over: list[str | None] = []
        self.events: list[Event] = []
        self.changed = trio.Event()
        self.ends: list[trio.SocketStream] = []
        emit = lambda conversation, event: self.events.append(event)  # noqa: E731
        self.reactor = Reactor(self.ended, emit, Complaints(), memory)

    def ended(self, conversation: Conversation, reason: str | None) -> None:
        self.over.append(reason)
        self.changed.set()

    def link(self, *plugins: Plugin, early: bytes = b"", **options: int) -> tuple[trio.SocketStream, trio.SocketStream]:
        """The client's and the broker's end of a new link; the client has sent some bytes already."""
        client, ours = pair(**options)
        client.sendall(early)
        broker, upstream = pair(**options)
        self.reactor.adopt(ours, upstream, Link(connection(), Filters(plugins)))
        self.ends += stream(client), stream(broker)
        return self.ends[-2], self.ends[-1]

    async def until_over(self, count: int = 1) -> None:
        while len(self.over) < count:
            self.changed = trio.Event()
            await self.changed.wait()


def pair(buffers: int = 0) -> tuple[socket.socket, socket.socket]:
    """Two connected TCP sockets, the second one as a reactor wants it; with `buffers`, small ones."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        if buffers:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffers)
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
    other.setblocking(False)
    other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if buffers:
        for each in (one, other):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffers)
    return one, other


def stream(sock: socket.socket) -> trio.SocketStream:
    return trio.SocketStream(trio.socket.from_stdlib_socket(sock))


def reset(stream: trio.SocketStream) -> None:
    """End it at once, whatever was still to be read."""
    stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    stream.socket.close()


async def receive(stream: trio.SocketStream, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        some = await stream.receive_some(min(65_536, count - len(data)))
        assert some, f"closed after {len(data)} of {count} bytes"
        data += some
    return bytes(data)


@asynccontextmanager
async def world(memory: int = 1 << 30) -> AsyncIterator[World]:
    here = World(memory)
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            await nursery.start(here.reactor.run)
            yield here
            nursery.cancel_scope.cancel()
        for end in here.ends:
            end.socket.close()


async def test_a_conversation_goes_both_ways() -> None:
    async with world() as here:
        client, broker = here.link()
        for number in range(3):
            await client.send_all(heartbeat(number))
            assert await receive(broker, len(heartbeat(number))) == heartbeat(number)
            await broker.send_all(heartbeat_answer(number))
            assert await receive(client, len(heartbeat_answer(number))) == heartbeat_answer(number)
        assert here.reactor.sockets.bytes_from_clients == 3 * len(heartbeat(0))
        assert here.reactor.sockets.bytes_from_brokers == 3 * len(heartbeat_answer(0))


@pytest.mark.parametrize("crash", [False, True])
async def test_observers_hear_how_a_connection_ended_and_what_came_on_it(
    crash: bool,
) -> None:
    noting, stumbling = Noting(), Stumbling()
    async with world() as here:
        client, ours = pair()
        broker, upstream = pair()
        link = Link(connection(), Filters([noting, stumbling]), clock=here.reactor.clock)
        link.begin()
        conversation = here.reactor.adopt(ours, upstream, link)
        here.ends += stream(client), stream(broker)
        await here.ends[0].send_all(heartbeat(1))
        await receive(here.ends[1], len(heartbeat(1)))
        await here.ends[1].send_all(heartbeat_answer(1))
        await receive(here.ends[0], len(heartbeat_answer(1)))
        if crash:
            conversation.link = Otherwise(link, receive_client=lambda data: 1 // 0)
            await here.ends[0].send_all(heartbeat(2))
        else:
            client.shutdown(socket.SHUT_WR)
        await here.until_over()
    assert [type(each) for each in noting.noted] == [Connected, int, Closed]
    closed = noting.noted[-1]
    assert closed.reason == ("the proxy failed; its log says where" if crash else None)
    assert closed.from_client == (2 if crash else 1) * len(heartbeat(1))
    assert closed.from_broker == len(heartbeat_answer(1))
    assert closed.began <= closed.ended
    assert [type(event) for event in here.events] == [ObserverFailed]  # of its end


@pytest.mark.parametrize("buffers", [0, 4096])
async def test_large_frames_pass_whole(buffers: int) -> None:
    async with world() as here:
        client, broker = here.link(buffers=buffers)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.send_all, BIG + heartbeat(8) + BIG)
            assert await receive(broker, len(BIG)) == BIG
            assert await receive(broker, len(heartbeat(8))) == heartbeat(8)
            assert await receive(broker, len(BIG)) == BIG


@pytest.mark.parametrize(
    ("turn", "stalls", "portion"),
    [(1.0, 0, BUFFER), (0.0001, 0, PORTION), (1.0, 1, PORTION), (0.00002, 0, LEAST), (0.00002, 1, LEAST)],
)
async def test_a_side_that_has_much_is_read_in_larger_portions_unless_many_have_or_its_peer_was_stalled(
    turn: float, stalls: int, portion: int
) -> None:
    async with world() as here:
        here.link()
        (conversation,) = here.reactor.conversations
        client, broker = conversation.client, conversation.broker
        conversation.shared.turn, broker.stalls = turn, stalls
        broker.sock = Otherwise(broker.sock, send=len)  # takes everything
        asked: list[int] = []

        def receive(room: memoryview, most: int) -> int:
            asked.append(most)
            if len(asked) > 1:
                raise BlockingIOError
            room[:most] = BIG[:most]
            return most

        client.sock = Otherwise(client.sock, recv_into=receive)
        for _ in range(2):
            read(conversation, client)
        assert asked[1] == portion


async def test_where_very_many_are_ready_little_is_read_of_each_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = produce(1, acks=1, records=b"r" * LEAST)
    read_at_once: list[int] = []

    def noted(conversation: Conversation, side: Side) -> None:
        sock = side.sock

        def receive_noted(room: memoryview, most: int) -> int:
            read_at_once.append(most)
            return sock.recv_into(room, most)

        if side.is_client:
            side.sock = Otherwise(sock, recv_into=receive_noted)
        read(conversation, side)
        side.sock = sock

    monkeypatch.setattr("proxy.net.serving.read", noted)
    async with world() as here:
        links = [here.link(early=frame) for _ in range(70)]
        for _, broker in links:
            assert await receive(broker, len(frame)) == frame
    assert set(read_at_once[:70]) == {LEAST}


async def test_for_a_client_that_is_gone_no_work_goes_on_that_has_to_wait_for_its_turn() -> None:
    async with world() as here:
        here.link()
        (conversation,) = here.reactor.conversations
        client = conversation.client

        def take(data: memoryview) -> list[Command]:
            client.block()  # the link lets others have their turn
            return []

        client.sock = Otherwise(client.sock, recv_into=lambda room, most: most)
        conversation.link = Otherwise(conversation.link, receive_client=take)
        conversation.shared.turn = 0.0001  # many others are ready
        goodbye(conversation, client, True)
        assert not conversation.is_over, "it had a turn"
        here.reactor.sockets.nudge()
        await here.until_over()


async def test_what_a_closing_link_has_for_a_slow_client_is_sent_though_its_broker_is_gone() -> None:
    async with world() as here:
        client, _ = here.link(buffers=4096)
        (conversation,) = here.reactor.conversations

        def take(data: memoryview) -> list[Command]:
            return [ToClient(BIG), Close()]

        conversation.broker.sock = Otherwise(conversation.broker.sock, recv_into=lambda room, most: most)
        conversation.link = Otherwise(conversation.link, receive_broker=take)
        conversation.shared.turn = 0.0001  # many others are ready
        goodbye(conversation, conversation.broker, True)
        here.reactor.sockets.nudge()
        assert await receive(client, len(BIG)) == BIG
        await here.until_over()


def fetch() -> tuple[bytes, bytes]:
    """A fetch and its answer, a large one."""
    partition = FetchResponse.Topic.Partition(partition_index=0, error_code=0, high_watermark=1, records=b"x" * MIB)
    responses = [FetchResponse.Topic(topic_id=bytes(16), partitions=[partition])]
    request = FetchRequest(max_wait_ms=1, min_bytes=1, topics=[])
    return asking(request, 1, 16), answering(FetchResponse(responses=responses), 1, 16)


async def test_a_large_answer_whose_end_is_wanted_passes_whole() -> None:
    request, answer = fetch()
    async with world() as here:
        client, broker = here.link(Endpoints())
        for _ in range(3):
            await client.send_all(request)
            assert await receive(broker, len(request)) == request
            async with trio.open_nursery() as nursery:
                nursery.start_soon(broker.send_all, answer)
                assert await receive(client, len(answer)) == answer


async def test_the_timer_of_the_loop_runs_in_a_turn_and_not_between_turns() -> None:
    async with world() as here:
        client, broker = here.link()
        for number in range(3):
            await client.send_all(heartbeat(number))
            await receive(broker, len(heartbeat(number)))
            with open(f"/proc/self/fdinfo/{here.reactor.sockets.timer.fd}") as file:
                (left,) = (line for line in file if line.startswith("it_value"))
            assert left == "it_value: (0, 0)\n"


async def test_the_loop_lingers_until_another_task_has_slept_for_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.net.serving.LINGER", 60.0)
    async with world() as here:
        here.link(early=heartbeat(1))
        began = trio.current_time()
        await trio.sleep(0.01)  # what is tried: the loop lingers meanwhile
        assert trio.current_time() - began < 10
        assert here.reactor.sockets.bytes_from_clients == len(heartbeat(1))


async def test_a_large_frame_passes_whole_in_whatever_pieces_it_comes() -> None:
    dice = random.Random(12)
    async with world() as here:
        client, broker = here.link()
        for _ in range(30):
            frame = produce(7, acks=1, records=dice.randbytes(dice.randrange(3 * PORTION)))
            async with trio.open_nursery() as nursery:

                async def send(frame: bytes) -> None:
                    at = 0
                    while at < len(frame):
                        size = dice.choice((1, 1000, 60_000, PORTION))
                        await client.send_all(frame[at : at + size])
                        at += size

                nursery.start_soon(send, frame)
                assert await receive(broker, len(frame)) == frame


@pytest.mark.parametrize("came", [100_000, PORTION + 1000, len(BIG) - 1])
async def test_a_client_that_leaves_within_a_large_frame_is_over(came: int) -> None:
    async with world() as here, trio.open_nursery() as nursery:
        client, broker = here.link()

        async def take_all() -> None:
            async for _ in broker:
                pass

        nursery.start_soon(take_all)
        await client.send_all(BIG[:came])
        await client.send_eof()
        await here.until_over()
        assert here.over == [None]


async def test_a_client_that_reads_nothing_holds_up_its_broker_and_nobody_else() -> None:
    async with world() as here:
        client, broker = here.link(buffers=4096)
        other, its_broker = here.link()
        count = 20_000
        requests, answers = heartbeat(1) * 100, heartbeat_answer(1) * 100
        sent = trio.Event()

        async def answer_all() -> None:
            for _ in range(count // 100):
                await receive(broker, len(requests))
                await broker.send_all(answers)
            sent.set()

        async def ask_all() -> None:
            for _ in range(count // 100):
                await client.send_all(requests)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer_all)
            nursery.start_soon(ask_all)
            await other.send_all(heartbeat(5))
            assert await receive(its_broker, len(heartbeat(5))) == heartbeat(5)
            conversation = next(each for each in here.reactor.conversations if each.link.inflight.slots)
            assert await receive(client, count * len(heartbeat_answer(1))) == answers * (count // 100)
            await sent.wait()
            kept = conversation.client.kept + conversation.broker.kept
            assert kept == 0


async def test_a_client_that_closes_gets_what_it_asked_for() -> None:
    async with world() as here:
        client, broker = here.link()
        await client.send_all(heartbeat(1))
        await client.send_eof()
        await receive(broker, len(heartbeat(1)))
        await broker.send_all(heartbeat_answer(1))
        assert await receive(client, len(heartbeat_answer(1))) == heartbeat_answer(1)
        assert await client.receive_some() == b""
        assert await broker.receive_some() == b""
        await here.until_over()
        assert here.over == [None]
        assert not here.reactor.conversations


async def test_a_broker_that_goes_takes_its_client_with_it() -> None:
    async with world() as here:
        client, broker = here.link()
        await client.send_all(heartbeat(1))
        await receive(broker, len(heartbeat(1)))
        await broker.aclose()
        assert await client.receive_some() == b""
        await here.until_over()
        assert here.over == ["the broker closed the connection with requests in flight"]


async def test_what_a_broker_said_before_it_went_still_arrives() -> None:
    async with world() as here:
        client, broker = here.link(buffers=4096)
        await client.send_all(heartbeat(1) * 900)
        await receive(broker, len(heartbeat(1)) * 900)
        answers = heartbeat_answer(1) * 900
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def say_and_go() -> None:
                await broker.send_all(answers)
                await broker.aclose()

            assert await receive(client, len(answers)) == answers
        assert await client.receive_some() == b""


class Never(Plugin):
    """Lets every Heartbeat wait for a signal that never comes."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Wait(Signal())
        return None


@pytest.mark.parametrize("plugins", [[], [Never()]], ids=["at the broker", "at a handler"])
async def test_a_client_that_is_gone_is_noticed_while_its_request_waits(
    plugins: list[Plugin], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bind, "QUIET", 1)
    (listening,) = bind.listen(Endpoint("127.0.0.1", 0), "bind")
    async with world() as it:
        client = socket.create_connection(listening.getsockname())
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2, 1)  # so long its kernel remembers it; 60 is usual
        await trio.lowlevel.wait_readable(listening)
        ours, _ = listening.accept()
        ours.setblocking(False)
        upper, upstream = pair()
        it.reactor.adopt(ours, upstream, Link(connection(), Filters(plugins)))
        client.sendall(heartbeat(1))
        client.close()
        await it.until_over()
    assert it.over == [None]
    listening.close()
    upper.close()


async def test_a_reset_by_the_client_is_no_fault() -> None:
    async with world() as here:
        client, broker = here.link()
        await client.send_all(heartbeat(1))
        await receive(broker, len(heartbeat(1)))
        reset(client)
        await here.until_over()
        assert here.over == [None]
        assert await broker.receive_some() == b""


async def test_a_reset_while_a_link_is_paused_and_its_answer_waits_is_no_fault() -> None:
    """What waits cannot be sent, and the goodbye comes with the same event."""
    async with world() as here:
        client, broker = here.link(buffers=4096)
        (conversation,) = here.reactor.conversations
        request, answer = fetch()
        await client.send_all(request)
        await receive(broker, len(request))
        with capture_logs() as logs:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(broker.send_all, answer)
                while not conversation.client.stalled:
                    await trio.sleep(0)
                nursery.cancel_scope.cancel()
            conversation.pause()
            reset(client)
            await here.until_over()
        assert here.over == [None]
        assert not logs


@pytest.mark.parametrize("last", [Close("a fault", reset=True), HalfClose()])
async def test_what_is_to_be_done_to_a_client_that_is_gone_already_is_no_fault(last: Command) -> None:
    async with world() as here:
        client, _ = here.link()
        (conversation,) = here.reactor.conversations
        reset(client)
        conversation.carry_out([ToClient(b"an answer"), last])
        assert here.over == [None]


async def test_a_handler_that_sleeps_is_woken() -> None:
    async with world() as here:
        client, broker = here.link(Late())
        await client.send_all(heartbeat(1) + heartbeat(2))
        both = heartbeat(1, "late") + heartbeat(2, "late")
        assert await receive(broker, len(both)) == both


class Patient(Plugin):
    """Lets every Heartbeat wait for a day."""

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Sleep(86_400)
        return None


async def test_a_client_that_asks_and_resets_at_once_is_not_waited_for() -> None:
    """Its request, the reset and another request come with one event, and the first request waits for a day."""
    async with world() as here:
        client, _ = here.link(Patient())
        await client.send_all(heartbeat(1) + heartbeat(2))
        reset(client)
        await here.until_over()


class Counting(Plugin):
    """Counts the ended links when a Heartbeat comes."""

    def __init__(self, over: list[str | None]) -> None:
        self.over = over
        self.counted: list[int] = []

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> None:
        self.counted.append(len(self.over))


async def test_a_request_does_not_wait_until_all_who_left_before_it_are_gone() -> None:
    async with world() as here:
        plugin = Counting(here.over)
        client, broker = here.link(plugin)
        others = [here.link()[0] for _ in range(4 * GOODBYES)]
        await trio.testing.wait_all_tasks_blocked()
        for other in others:
            reset(other)
        await client.send_all(heartbeat(1))
        assert await receive(broker, len(heartbeat(1))) == heartbeat(1)
        assert plugin.counted == [0]
        await here.until_over(len(others))


async def test_a_link_in_the_middle_of_long_work_lets_others_through() -> None:
    class Endless(Plugin):
        @on_request(HeartbeatRequest)
        def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
            while request.group_id == "long":
                yield TURN
            return None

    async with world() as here:
        busy, _ = here.link(Endless())
        other, broker = here.link(Endless())
        await busy.send_all(heartbeat(1, "long"))
        for number in range(20):
            await other.send_all(heartbeat(number))
            assert await receive(broker, len(heartbeat(number))) == heartbeat(number)
        assert here.reactor.turns.line
        here.reactor.end(next(iter(here.reactor.conversations)), "enough")
        here.reactor.end(next(iter(here.reactor.conversations)), "enough")
        await trio.sleep(0)
        here.reactor.turns.serve()
        assert not here.reactor.turns.line


async def test_long_work_that_begins_after_a_wait_goes_on_by_itself() -> None:
    class Later(Plugin):
        @on_request(HeartbeatRequest)
        def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
            yield Sleep(0.01)
            yield TURN
            yield Call(int)
            yield TURN
            return None

    async with world() as here:
        client, broker = here.link(Later())
        await client.send_all(heartbeat(1))
        assert await receive(broker, len(heartbeat(1))) == heartbeat(1)


async def test_a_sleep_ends_with_its_conversation(mock_clock: trio.testing.MockClock) -> None:
    async with world() as here:
        before = trio.lowlevel.current_statistics().tasks_living
        clients = [here.link(Patient())[0] for _ in range(5)]
        for client in clients:
            await client.send_all(heartbeat(1))
        await trio.testing.wait_all_tasks_blocked()
        assert trio.lowlevel.current_statistics().tasks_living == before + 5
        for conversation in list(here.reactor.conversations):
            here.reactor.end(conversation, "enough")
        await trio.testing.wait_all_tasks_blocked()
        assert trio.lowlevel.current_statistics().tasks_living == before
        assert here.over == ["enough"] * 5


async def test_what_may_wait_is_done_in_a_thread() -> None:
    async with world() as here:
        client, broker = here.link(Elsewhere())
        await client.send_all(heartbeat(1) + heartbeat(2))
        both = heartbeat(1, "elsewhere") + heartbeat(2, "elsewhere")
        assert await receive(broker, len(both)) == both


async def test_a_link_that_raises_is_closed_and_no_other() -> None:
    async with world() as here:
        client, broker = here.link()
        other, its_broker = here.link()
        conversation = next(iter(here.reactor.conversations))

        def broken(data: memoryview) -> Any:
            raise RuntimeError("a bug")

        conversation.link = Otherwise(conversation.link, receive_client=broken, receive_broker=broken)
        for end in (client, broker, other, its_broker):
            await end.send_all(heartbeat(1) if end in (client, other) else b"")
        await here.until_over()
        assert here.over == ["the proxy failed; its log says where"]
        assert len(here.reactor.conversations) == 1


async def test_a_socket_that_fails_as_none_should_ends_its_link_and_no_other() -> None:
    async with world() as here:
        clients = [here.link() for _ in range(3)]
        failing = next(each for each in here.reactor.conversations)

        def broken(data: memoryview) -> int:
            raise RuntimeError("a bug")

        failing.broker.sock = Otherwise(failing.broker.sock, send=broken)
        for client, _ in clients:
            await client.send_all(heartbeat(1))
        await here.until_over()
        assert here.over == ["the proxy failed; its log says where"]
        served = [await broker.receive_some() for _, broker in clients]
        assert sorted(served) == [b"", heartbeat(1), heartbeat(1)]


async def test_a_link_whose_end_cannot_be_told_of_is_over_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as here:
        client, _ = here.link()
        (conversation,) = here.reactor.conversations

        def broken(conversation: Conversation, reason: str | None) -> None:
            raise RuntimeError("a bug")

        monkeypatch.setattr(here.reactor, "_ended", broken)
        here.reactor.end(conversation, "enough")
        assert await client.receive_some() == b""
        assert not here.reactor.conversations


async def test_a_link_that_is_paused_is_over_when_its_client_closes_though_the_broker_has_more_to_say() -> None:
    async with world() as here:
        client, broker = here.link()
        (conversation,) = here.reactor.conversations
        conversation.pause()
        with trio.move_on_after(0.1):
            await broker.send_all(bytes(64 << 20))  # its close would come behind this
        assert not here.over
        await client.aclose()
        await here.until_over()
        assert here.over == [None]


async def test_a_link_that_is_paused_waits_when_only_its_broker_closes() -> None:
    async with world() as here:
        client, broker = here.link()
        (conversation,) = here.reactor.conversations
        conversation.pause()
        await broker.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert not here.over
        await client.aclose()
        await here.until_over()


async def test_a_link_whose_client_closed_its_end_is_over_when_it_is_paused() -> None:
    async with world() as here:
        client, _ = here.link()
        (conversation,) = here.reactor.conversations
        conversation.client.hung = True  # and the broker's last megabytes are still read
        conversation.pause()
        assert await client.receive_some() == b""
        await here.until_over()
        assert here.over == [None]


async def test_among_many_who_have_much_to_read_a_turn_is_one_read_however_often_each_was_put_in_line() -> None:
    async with world() as here:
        clients = []
        for _ in range(10):
            here.link(Late())
        frame, read = heartbeat(1)[SIZE.size :].ljust(64 * MIB, b"x"), list[Side]()
        frame = SIZE.pack(len(frame)) + frame

        def endless(side: Side) -> Callable[[memoryview, int], int]:
            """A socket that always has as much as is asked for."""

            def receive(room: memoryview, most: int) -> int:
                read.append(side)
                if len(read) > 60:
                    raise BlockingIOError
                room[:most] = frame[side.received : side.received + most]
                return most

            return receive

        for conversation in here.reactor.conversations:
            clients.append(conversation.client)
            conversation.client.sock = Otherwise(conversation.client.sock, recv_into=endless(conversation.client))
            for _ in range(3):
                here.reactor.look(conversation.client)
        here.reactor.sockets.nudge()
        await trio.testing.wait_all_tasks_blocked()
        assert read[:50] == clients * 5


async def test_a_drain_answers_what_is_in_flight_and_takes_no_more() -> None:
    async with world() as here:
        client, broker = here.link()
        idle, _ = here.link()
        await client.send_all(heartbeat(1))
        await receive(broker, len(heartbeat(1)))
        here.reactor.drain(here.reactor.conversations)
        assert await idle.receive_some() == b""
        await client.send_all(heartbeat(2))
        await broker.send_all(heartbeat_answer(1))
        assert await receive(client, len(heartbeat_answer(1))) == heartbeat_answer(1)
        await here.until_over(2)
        assert here.over == [None, None]


async def test_whoever_is_ended_is_cut_at_once() -> None:
    async with world() as here:
        client, _ = here.link()
        (conversation,) = here.reactor.conversations
        assert not conversation.begun
        here.reactor.end(conversation, "too slow")
        assert await client.receive_some() == b""
        assert here.over == ["too slow"]


async def test_a_thousand_small_links_are_served_fairly() -> None:
    async with world() as here:
        links = [here.link() for _ in range(50)]
        frame, answer = heartbeat(1), heartbeat_answer(1)

        async def talk(client: trio.SocketStream, broker: trio.SocketStream) -> None:
            for _ in range(20):
                await client.send_all(frame)
                assert await receive(broker, len(frame)) == frame
                await broker.send_all(answer)
                assert await receive(client, len(answer)) == answer

        async with trio.open_nursery() as nursery:
            for client, broker in links:
                nursery.start_soon(talk, client, broker)


async def test_other_tasks_have_their_turn_under_load() -> None:
    async with world() as here:
        client, broker = here.link()
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                await trio.sleep(0)
                turns += 1

        async with trio.open_nursery() as nursery:
            nursery.start_soon(count)
            for _ in range(20):
                await client.send_all(heartbeat(1) * 900)
                await receive(broker, len(heartbeat(1)) * 900)
                await broker.send_all(heartbeat_answer(1) * 900)
                await receive(client, len(heartbeat_answer(1)) * 900)
            nursery.cancel_scope.cancel()
        assert turns > 20


class Sleeping(Plugin):
    """Lets a Heartbeat wait for an hour, or for a signal."""

    def __init__(self, signal: Signal) -> None:
        self.signal = signal

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        yield Sleep(3600, unless=self.signal)
        return None


class Deciding(Plugin):
    """Ends the connection in its own way when a Heartbeat comes, or first waits for a signal."""

    def __init__(self, decision: Decision, signal: Signal | None = None) -> None:
        self.decision, self.signal = decision, signal

    @on_request(HeartbeatRequest)
    def heartbeat(self, ctx: Context, request: HeartbeatRequest) -> Steps:
        if self.signal is not None:
            yield Wait(self.signal)
        return self.decision


async def test_a_connection_may_be_reset() -> None:
    async with world() as here:
        client, broker = here.link(Deciding(Disconnect("a fault", How.RESET)))
        await client.send_all(heartbeat(1))
        with pytest.raises(trio.BrokenResourceError) as broken:
            await client.receive_some(1)
        assert isinstance(broken.value.__cause__, ConnectionResetError)
        assert await broker.receive_some(1) == b"", "the broker's connection is closed as ever"
        assert here.over == ["a fault"]


async def test_half_a_close_is_told_after_what_was_sent_and_the_client_may_close_then() -> None:
    async with world() as here:
        client, broker = here.link(Deciding(Disconnect("a fault", How.HALF_CLOSE)), buffers=10_000)
        request, answer = fetch()
        await client.send_all(request + heartbeat(2))
        await receive(broker, len(request))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(broker.send_all, answer)
            assert await receive(client, len(answer)) == answer
        assert await client.receive_some(1) == b""
        assert not here.over
        await client.aclose()
        await here.until_over()
        assert here.over == [None]


async def test_a_request_is_held_until_its_signal_is_released() -> None:
    async with world() as here:
        signal = Signal()
        client, broker = here.link(Deciding(None, signal))
        await client.send_all(heartbeat(1))
        await trio.testing.wait_all_tasks_blocked()
        signal.release()
        assert await receive(broker, len(heartbeat(1))) == heartbeat(1)


async def test_a_sleep_is_cut_short_by_its_signal() -> None:
    async with world() as here:
        signal = Signal()
        client, broker = here.link(Sleeping(signal))
        await client.send_all(heartbeat(1))
        await trio.testing.wait_all_tasks_blocked()
        signal.release()
        assert await receive(broker, len(heartbeat(1))) == heartbeat(1)


async def test_a_signal_does_not_keep_a_link_that_is_over() -> None:
    async with world() as here:
        signal = Signal()
        client, broker = here.link(Deciding(None, signal))
        await client.send_all(heartbeat(1))
        await trio.testing.wait_all_tasks_blocked()
        (gone,) = map(weakref.ref, here.reactor.conversations)
        await broker.aclose()
        await here.until_over()
        assert gone() is None
        signal.release()


async def test_a_black_hole_takes_everything_until_the_client_leaves() -> None:
    hole = Disconnect("a black hole", How.BLACK_HOLE)
    async with world() as here:
        client, broker = here.link(Down(hole))
        await client.send_all(heartbeat(1))
        await broker.aclose()
        await client.send_all(b"x" * 3_000_000)  # is taken
        with trio.move_on_after(0.05) as waited:
            await client.receive_some(1)
        assert waited.cancelled_caught
        assert not here.over
        (conversation,) = here.reactor.conversations
        assert conversation.held == 0
        await client.aclose()
        await here.until_over()
        assert here.over == ["a black hole"]
