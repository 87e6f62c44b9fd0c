"""Brokers and their ports are kept in step, whatever brokers and workers report."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from functools import partial

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from chaos.ports import is_free
from proxy.core.topology import MOST, NOWHERE, Endpoint
from proxy.net.channel import Learned
from proxy.net.complaints import Complaints
from proxy.net.exposure import GIVE_BACK_AFTER, Exposure
from proxy.net.listeners import Listener
from proxy.net.taken_ports import TakenPorts
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters
from tests.proxy.net.scripted import LOOPBACK, PATIENCE
from tests.real.ports import free_block

KAFKA = Endpoint("kafka", 9092)
ROOM = 8
MANY = 300
HIGHEST = 65_000  # beyond the ports that the kernel gives

Make = Callable[..., Awaitable[Exposure]]


@pytest.fixture
async def make(nursery: trio.Nursery) -> Make:
    """An exposure whose listeners are served; nobody comes to them."""

    async def made(listeners: int = 1, most: int = MOST, told: list[Learned] | None = None) -> Exposure:
        tasks = Tasks(NetworkCounters(), Complaints())
        names = [f"clients-{number}" for number in range(listeners)]
        some = [Listener(name, Endpoint(LOOPBACK, free_block(ROOM, LOOPBACK)), LOOPBACK, tasks) for name in names]
        for listener in some:
            await nursery.start(listener.serve)
            listener.acceptor.accepted = lambda client, *rest: client.close()
        taken = TakenPorts()
        nursery.start_soon(taken.watch)
        return Exposure("main", some, most, tasks, taken, None if told is None else told.append)

    return made


async def test_what_discovery_found_is_exposed_on_every_listener_and_told_once(make: Make) -> None:
    told: list[Learned] = []
    exposure = await make(listeners=2, told=told)
    for _ in range(3):
        assert await exposure.discovered({1: KAFKA}) == {1: KAFKA}
    assert [listener.ports.keys() for listener in exposure.listeners] == [{1}, {1}]
    assert told == [Learned("main", 1, *KAFKA)]


async def test_of_brokers_without_end_only_those_are_looked_at_that_may_be(make: Make) -> None:
    exposure = await make(most=3)
    await exposure.discovered({ROOM - 2: KAFKA})
    endless = dict.fromkeys(range(1000, 6000), KAFKA) | {ROOM - 2: KAFKA}
    assert ROOM - 2 in await exposure.discovered(endless)
    assert exposure._counters.over_brokers == 5_000 - 2
    assert exposure._complaints.left_out < 10


@pytest.mark.parametrize("by", ["discovery", "another worker"])
async def test_others_run_while_the_ports_of_many_brokers_open(
    make: Make, nursery: trio.Nursery, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.net.time_slices.SLICE", 0)  # on a fast machine all of them open within three
    exposure = await make()
    first = HIGHEST - MANY - exposure.listeners[0].bind.port
    many, turns = dict.fromkeys(range(first, first + MANY), KAFKA), set()

    async def other() -> None:
        while True:
            turns.add(len(exposure.listeners[0].ports))
            await trio.lowlevel.checkpoint()

    nursery.start_soon(other)
    if by == "discovery":
        await exposure.discovered(many)
    else:
        for node_id, real in many.items():
            exposure.learn(Learned("main", node_id, *real))
        await exposure.open()
    assert len(turns) > MANY / 2
    assert exposure.topologies["clients-0"].brokers.keys() == many.keys()


async def test_what_a_client_is_told_the_other_listeners_and_workers_hear_of(make: Make) -> None:
    told: list[Learned] = []
    exposure = await make(listeners=2, told=told)
    asked = trio.Event()
    exposure.ask_again = asked.set
    exposure.topologies["clients-0"].learn(3, *KAFKA)
    assert [listener.ports.keys() for listener in exposure.listeners] == [{3}, {3}]
    assert told == [Learned("main", 3, *KAFKA)]
    assert asked.is_set()


async def test_what_another_worker_told_is_not_told_again(make: Make) -> None:
    """Otherwise two workers that heard different things would tell each other for ever."""
    told: list[Learned] = []
    exposure = await make(told=told)
    await exposure.open()
    for address in (KAFKA, Endpoint("elsewhere", 9092), KAFKA):
        exposure.learn(Learned("main", 3, *address))
        assert exposure.topologies["clients-0"].brokers[3].real == address
    assert told == []


async def test_what_is_new_from_another_worker_asks_for_a_discovery(make: Make) -> None:
    """Otherwise health shows a broker that moved at its old address for half a minute, and clients are sent there."""
    exposure = await make(told=[])
    await exposure.open()
    asked: list[Endpoint] = []
    for address in (KAFKA, KAFKA, Endpoint("elsewhere", 9092)):
        exposure.ask_again = partial(asked.append, address)
        exposure.learn(Learned("main", 3, *address))
    assert asked == [KAFKA, Endpoint("elsewhere", 9092)]


async def test_what_others_learned_before_the_ports_are_open_waits_and_is_bounded(make: Make) -> None:
    exposure = await make(most=3)
    for node_id in range(100):
        exposure.learn(Learned("main", node_id, *KAFKA))
    assert exposure.listeners[0].ports == {}
    await exposure.open()
    assert exposure.listeners[0].ports.keys() == {0, 1, 2}


async def test_a_broker_that_cannot_be_is_a_line_and_no_candidate(make: Make) -> None:
    exposure = await make()
    found = {1: KAFKA, 2: Endpoint("a..b", 9092), -1: KAFKA, 3: Endpoint("kafka", -7)}
    with capture_logs() as lines:
        for _ in range(3):
            assert await exposure.discovered(found) == {1: KAFKA}
    assert sorted(line["broker"] for line in lines) == [-1, 2, 3]
    assert {line["event"] for line in lines} == {"broker cannot be used"}
    assert all("advertised.listeners" in line["way_out"] for line in lines)
    assert exposure._counters.unusable_brokers == 9


async def test_ids_beyond_the_last_port_are_told_as_nobody(make: Make) -> None:
    exposure = await make()
    topology = exposure.topologies["clients-0"]
    with capture_logs() as lines:
        for node_id in (70_000, 2**31 - 1):
            assert topology.learn(node_id, *KAFKA) == Endpoint(LOOPBACK, NOWHERE)
    assert [line["event"] for line in lines] == ["no port for a broker"] * 2
    assert "change listeners.clients-0.bind" in lines[0]["why"]


async def test_endless_new_ids_meet_the_limit_in_few_lines(make: Make) -> None:
    exposure = await make(most=4)
    with capture_logs() as lines:
        await exposure.discovered(dict.fromkeys(range(100000), KAFKA))
        await exposure.discovered({-node_id: KAFKA for node_id in range(1, 100_000)})
    assert len(exposure.topologies["clients-0"].brokers) == 4
    assert len(lines) <= 20
    assert exposure._counters.over_brokers == 2 * 100_000 - 4 - 1


async def test_a_broker_that_flaps_is_a_line_in_a_while(make: Make) -> None:
    exposure = await make()
    topology = exposure.topologies["clients-0"]
    topology.learn(1, *KAFKA)
    with capture_logs() as lines:
        for number in range(100):
            topology.learn(1, "kafka", 9093 + number % 2)
    assert [(line["event"], line["log_level"]) for line in lines] == [("broker moved", "info")]


async def test_a_taken_port_of_a_broker_is_said_told_as_nobody_and_had_when_it_is_free(make: Make) -> None:
    exposure = await make()
    port = exposure.listeners[0].bind.port + 1 + 2
    topology = exposure.topologies["clients-0"]
    with capture_logs() as lines, socket.create_server((LOOPBACK, port)):
        assert topology.learn(2, *KAFKA) == Endpoint(LOOPBACK, NOWHERE)
        await exposure.discovered({2: KAFKA})
        assert topology.learn(2, *KAFKA) == Endpoint(LOOPBACK, NOWHERE)
        with trio.fail_after(PATIENCE):
            while not lines:
                await trio.lowlevel.checkpoint()
    (line,) = lines
    assert "has the port" in line["why"]
    assert exposure._counters.closed_ports == 1
    await exposure.discovered({2: KAFKA})
    assert topology.learn(2, *KAFKA) == Endpoint(LOOPBACK, port)
    assert not is_free(LOOPBACK, port)


async def test_a_taken_port_to_begin_at_is_waited_for(make: Make, nursery: trio.Nursery) -> None:
    exposure = await make(listeners=2)
    taken, free = exposure.listeners
    with capture_logs() as lines, socket.create_server((LOOPBACK, taken.bind.port)):
        opening = trio.Event()

        async def opened() -> None:
            await exposure.open()
            opening.set()

        nursery.start_soon(opened)
        with trio.fail_after(PATIENCE):
            while not lines:
                await trio.lowlevel.checkpoint()
        assert not is_free(LOOPBACK, free.bind.port)  # the other is open
    assert "has the port" in lines[0]["why"]
    with trio.fail_after(PATIENCE):
        await opening.wait()


async def test_the_port_of_a_broker_that_is_gone_is_given_back_and_had_again(make: Make, mock_clock: MockClock) -> None:
    exposure = await make(listeners=2)
    both, one = {1: KAFKA, 2: KAFKA}, {1: KAFKA}
    await exposure.discovered(both)
    ports = [listener.bind.port + 1 + 2 for listener in exposure.listeners]
    await exposure.discovered(one)
    mock_clock.jump(GIVE_BACK_AFTER - 1)
    await exposure.discovered(one)
    assert not any(is_free(LOOPBACK, port) for port in ports)
    mock_clock.jump(1)
    with capture_logs() as lines:
        await exposure.discovered(one)
    assert [(line["event"], line["broker"]) for line in lines] == [("port given back", 2)]
    assert all(is_free(LOOPBACK, port) for port in ports)
    assert exposure.topologies["clients-0"].brokers.keys() == {1}
    assert exposure.topologies["clients-0"].learn(2, *KAFKA) == Endpoint(LOOPBACK, ports[0])
    assert not any(is_free(LOOPBACK, port) for port in ports)


async def test_a_port_stays_while_a_client_is_there_or_the_broker_came_back_meanwhile(
    make: Make, mock_clock: MockClock
) -> None:
    exposure = await make()
    exposure.in_use = lambda: {2}
    await exposure.discovered({1: KAFKA, 2: KAFKA, 3: KAFKA})
    await exposure.discovered({1: KAFKA})
    mock_clock.jump(GIVE_BACK_AFTER - 1)
    await exposure.discovered({1: KAFKA, 3: KAFKA})
    mock_clock.jump(GIVE_BACK_AFTER - 1)
    await exposure.discovered({1: KAFKA})
    assert exposure.listeners[0].ports.keys() == {1, 2, 3}
    exposure.in_use = lambda: set()
    await exposure.discovered({1: KAFKA})
    assert exposure.listeners[0].ports.keys() == {1, 3}


async def test_brokers_of_which_discovery_may_not_know_keep_their_ports(make: Make, mock_clock: MockClock) -> None:
    exposure = await make()
    exposure.topologies["clients-0"].learn(2, *KAFKA)
    for _ in range(3):
        await exposure.discovered({})  # as where brokers answer only whom they know
        mock_clock.jump(GIVE_BACK_AFTER)
    assert exposure.listeners[0].ports.keys() == {2}


async def test_invented_brokers_make_room_for_real_ones_in_time(make: Make, mock_clock: MockClock) -> None:
    exposure = await make(most=3)
    await exposure.discovered({1: KAFKA})
    for node_id in range(2, 6):
        exposure.topologies["clients-0"].learn(node_id, *KAFKA)
    assert await exposure.discovered({1: KAFKA, 7: KAFKA}) == {1: KAFKA}
    mock_clock.jump(GIVE_BACK_AFTER)
    assert await exposure.discovered({1: KAFKA, 7: KAFKA}) == {1: KAFKA, 7: KAFKA}


async def two_clusters(nursery: trio.Nursery, shared: bool) -> tuple[Exposure, Exposure, int]:
    """Two clusters whose listeners begin five ports apart, and where the first begins."""
    tasks, all_of_them = Tasks(NetworkCounters(), Complaints()), list[Listener]()
    port = free_block(2 * ROOM, LOOPBACK)
    for name, begins in (("low", port), ("high", port + 5)):
        one = Listener(name, Endpoint(LOOPBACK, begins), LOOPBACK, tasks, all_of_them, shared=shared)
        await nursery.start(one.serve)
        one.acceptor.accepted = lambda client, *rest: client.close()
        all_of_them.append(one)
    low, high = (
        Exposure("a", all_of_them[:1], MOST, tasks, TakenPorts()),
        Exposure("b", all_of_them[1:], MOST, tasks, TakenPorts()),
    )
    return low, high, port


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("invented_first", [False, True])
async def test_no_cluster_takes_the_clients_of_another_by_inventing_an_id(
    nursery: trio.Nursery, shared: bool, invented_first: bool
) -> None:
    low, high, port = await two_clusters(nursery, shared)
    invented, real = low.topologies["low"], high.topologies["high"]
    learn = [lambda: invented.learn(6, *KAFKA), lambda: real.learn(1, *KAFKA)]
    for each in learn if invented_first else reversed(learn):
        each()
    assert real.brokers[1].advertised == Endpoint(LOOPBACK, port + 7)
    assert invented.brokers[6].advertised == Endpoint(LOOPBACK, NOWHERE)
    await low.discovered({6: KAFKA})
    assert (low.listeners[0].ports, high.listeners[0].ports) == ({}, {1: port + 7})


@pytest.mark.parametrize("shared", [False, True])
async def test_no_broker_has_the_port_where_another_listener_will_begin(nursery: trio.Nursery, shared: bool) -> None:
    low, high, port = await two_clusters(nursery, shared)
    assert low.topologies["low"].learn(4, *KAFKA) == Endpoint(LOOPBACK, NOWHERE)
    await high.open()
    assert not is_free(LOOPBACK, port + 5)
