from __future__ import annotations

import os
import socket

import pytest
import trio
from structlog.testing import capture_logs

from chaos.ports import is_free
from proxy.core.topology import Endpoint
from proxy.net.bind import BindError
from proxy.net.complaints import Complaints
from proxy.net.listeners import Listener
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters
from tests.proxy.net.scripted import LOOPBACK, PATIENCE
from tests.real.ports import free_block

Arrival = tuple[socket.socket, tuple[str, int], int | None]


class Door:
    """A listener, and who came to it."""

    def __init__(self, host: str = LOOPBACK) -> None:
        self.port = free_block(8, LOOPBACK)
        tasks = Tasks(NetworkCounters(), Complaints())
        self.listener = Listener("clients", Endpoint(host, self.port), "kafka.example.com", tasks)
        self._send, self._came = trio.open_memory_channel[Arrival](10)
        self.listener.acceptor.accepted = lambda *arrival: self._send.send_nowait(arrival)

    async def next(self) -> tuple[tuple[str, int], int | None]:
        with trio.fail_after(PATIENCE):
            client, peer, node_id = await self._came.receive()
        client.close()
        return peer, node_id


@pytest.fixture
async def door(nursery: trio.Nursery) -> Door:
    door = Door()
    await nursery.start(door.listener.serve)
    return door


async def test_a_broker_has_the_port_after_its_id(door: Door) -> None:
    assert door.listener.advertise(0) == Endpoint("kafka.example.com", door.port + 1)
    assert door.listener.advertise(5) == Endpoint("kafka.example.com", door.port + 6)
    door.listener.open_bootstrap()
    door.listener.open(5)
    assert door.listener.ports == {5: door.port + 6}
    for port, expected in ((door.port, None), (door.port + 6, 5)):
        async with await trio.open_tcp_stream(LOOPBACK, port) as stream:
            assert await door.next() == (stream.socket.getsockname(), expected)


async def test_a_port_is_open_when_open_returns(door: Door) -> None:
    door.listener.open(1)
    socket.create_connection((LOOPBACK, door.port + 2), timeout=PATIENCE).close()  # nothing async ran in between
    await door.next()


async def test_whoever_makes_it_fail_is_gone_and_the_next_is_accepted(door: Door) -> None:
    door.listener.open_bootstrap()
    accepted = door.listener.acceptor.accepted

    def fail(client: socket.socket, *_: object) -> None:
        door.listener.acceptor.accepted = accepted
        client.close()
        raise RuntimeError("a bug")

    door.listener.acceptor.accepted = fail
    with capture_logs() as logs:
        async with await trio.open_tcp_stream(LOOPBACK, door.port) as first:
            with trio.fail_after(PATIENCE):
                assert not await first.receive_some(1)
        async with await trio.open_tcp_stream(LOOPBACK, door.port) as second:
            assert await door.next() == (second.socket.getsockname(), None)
    (line,) = logs
    assert (line["event"], line["task"]) == ("a task failed", "accepting a client")
    assert "please report" in line["way_out"]


async def test_an_open_port_is_not_opened_again(door: Door) -> None:
    door.listener.open(1)
    door.listener.open(1)


async def test_all_ports_close_when_it_ends() -> None:
    door = Door()
    async with trio.open_nursery() as nursery:
        await nursery.start(door.listener.serve)
        door.listener.open_bootstrap()
        door.listener.open(1)
        nursery.cancel_scope.cancel()
    assert is_free(LOOPBACK, door.port)
    assert is_free(LOOPBACK, door.port + 2)


async def test_what_is_done_beside_it_is_cancelled_when_it_is_shut(door: Door) -> None:
    began, ended = trio.Event(), trio.Event()

    async def serve(client: str) -> None:
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    door.listener.acceptor.serve_beside(serve, "a client")
    with trio.fail_after(PATIENCE):
        await began.wait()
        door.listener.shut()
        await ended.wait()


async def test_a_taken_port_of_a_broker_says_which_broker_and_what_to_change(door: Door) -> None:
    with socket.create_server((LOOPBACK, door.port + 3)):
        with pytest.raises(BindError) as raised:
            door.listener.open(2)
        said = str(raised.value)
    assert f"{LOOPBACK}:{door.port + 3}: process {os.getpid()}" in said
    assert "change listeners.clients.bind (broker 2 answers on its port + 1 + 2)" in said
    assert door.listener.advertise(2) == Endpoint("kafka.example.com", 0)
    door.listener.open(2)
    assert door.listener.advertise(2) == Endpoint("kafka.example.com", door.port + 3)


async def test_an_id_beyond_the_last_port_has_no_port_and_clients_are_told_nobodys(door: Door) -> None:
    assert door.listener.advertise(70_000) == Endpoint("kafka.example.com", 0)
    with pytest.raises(BindError, match=r"no port \d+ for broker 70000; change .* to a lower one"):
        door.listener.open(70_000)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6 here")
async def test_ipv6_clients_come_in_and_ipv4_clients_keep_their_address(nursery: trio.Nursery) -> None:
    door = Door("::")
    await nursery.start(door.listener.serve)
    door.listener.open_bootstrap()
    for host in ("::1", LOOPBACK):
        async with await trio.open_tcp_stream(host, door.port):
            (peer, _), _ = await door.next()
            assert peer == host


async def test_running_out_of_files_is_said_and_survived(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    door.listener.open_bootstrap()
    real, failures = socket.socket.accept, [OSError(24, "Too many open files")]

    def accept(self: socket.socket) -> tuple[socket.socket, object]:
        if failures:
            raise failures.pop()
        return real(self)

    monkeypatch.setattr(socket.socket, "accept", accept)
    with capture_logs() as logs:
        async with await trio.open_tcp_stream(LOOPBACK, door.port):
            await door.next()
    assert [line["event"] for line in logs] == ["cannot accept"]
