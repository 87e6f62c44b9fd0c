"""Bytes that no Kafka broker sends: they cost only that broker's clients."""

from __future__ import annotations

import pytest
import trio
from structlog.testing import capture_logs

from chaos.ports import is_free
from proxy.core.topology import NOWHERE, Endpoint
from proxy.net.gateway import Gateway
from proxy.protocol.header import request_frame
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.proxy.net.canary import CANARY, beside, serving_both, sings
from tests.proxy.net.scripted import LOOPBACK, PATIENCE, Broker, connected, port_of

UNUSABLE = [
    (2, "a..b", 9092),
    (2, "a" * 64, 9092),
    (2, "kafka\0.example.com", 9092),
    (2, "bücher.example.com", 9092),
    (2, "", 9092),
    (2, "[::1]", 9092),
    (2, "x" * 30_000, 9092),
    (2, LOOPBACK, 0),
    (2, LOOPBACK, -1),
    (2, LOOPBACK, 65_536),
    (2, LOOPBACK, 2**31 - 1),
    (-1, LOOPBACK, 9092),
    (-(2**31), LOOPBACK, 9092),
    (70_000, LOOPBACK, 9092),
    (2**31 - 1, LOOPBACK, 9092),
]


@pytest.fixture
async def canary(nursery: trio.Nursery) -> Broker:
    canary = Broker()
    await nursery.start(canary.serve)
    return canary


def ids(value: object) -> str:
    return repr(value)[:20]


@pytest.mark.parametrize(("node_id", "host", "port"), UNUSABLE, ids=ids)
async def test_a_broker_that_cannot_be_is_said_counted_and_told_as_nobody(
    broker: Broker, canary: Broker, node_id: int, host: str, port: int
) -> None:
    config = beside(broker.endpoint, canary)
    with capture_logs() as logs:
        async with serving_both(config) as gateway, connected(LOOPBACK, port_of(config)) as client:
            broker.told = {1: broker.endpoint, node_id: Endpoint(host, port)}
            answer = await client.ask(MetadataRequest(topics=[]), MetadataResponse)
            told = {it.node_id: (it.host, it.port) for it in answer.brokers}
            assert told == {1: (LOOPBACK, port_of(config, 1)), node_id: (LOOPBACK, NOWHERE)}
            async with connected(LOOPBACK, port_of(config, 1)) as other:
                assert await other.beat() == 0
            assert gateway.counters.unusable_brokers + gateway.counters.closed_ports >= 1
            assert gateway.counters.failed_tasks == 0
    (line,) = (line for line in logs if line["event"] in ("broker cannot be used", "no port for a broker"))
    assert (line["cluster"], line["broker"]) == ("main", node_id)


@pytest.mark.parametrize(("node_id", "host", "port"), UNUSABLE, ids=ids)
async def test_one_that_discovery_finds_at_the_start_keeps_nobody_from_starting(
    broker: Broker, canary: Broker, node_id: int, host: str, port: int
) -> None:
    broker.told = {node_id: Endpoint(host, port), 1: broker.endpoint}
    config = beside(broker.endpoint, canary)
    async with serving_both(config) as gateway:
        for _ in range(4):  # whichever broker the bootstrap port begins with
            async with connected(LOOPBACK, port_of(config)) as client:
                assert await client.beat() == 0
        assert gateway.counters.failed_tasks == 0


async def test_a_cluster_of_unusable_brokers_alone_is_reached_by_its_bootstrap_address(
    broker: Broker, canary: Broker
) -> None:
    broker.told = {1: Endpoint("a..b", 9092), 2: Endpoint("", 0)}
    config = beside(broker.endpoint, canary)
    async with serving_both(config), connected(LOOPBACK, port_of(config)) as client:
        assert await client.beat() == 0


async def test_an_answer_that_names_a_broker_twice_names_it_once(broker: Broker, canary: Broker) -> None:
    twice = [(1, broker.endpoint), (1, Endpoint("a..b", 1)), (1, Endpoint(LOOPBACK, 9))]
    config = beside(broker.endpoint, canary)
    with capture_logs() as logs:
        async with serving_both(config) as gateway, connected(LOOPBACK, port_of(config)) as client:
            broker.listed = twice
            answer = await client.ask(MetadataRequest(topics=[]), MetadataResponse)
            assert [(it.host, it.port) for it in answer.brokers] == [(LOOPBACK, port_of(config, 1))] * 3
            assert gateway.report().clusters["main"] == {"1": str(broker.endpoint)}
            async with connected(LOOPBACK, port_of(config, 1)) as other:
                assert await other.beat() == 0
    assert "broker moved" not in [line["event"] for line in logs]


async def test_two_ids_may_have_one_address(broker: Broker, canary: Broker) -> None:
    broker.told = {1: broker.endpoint, 2: broker.endpoint}
    config = beside(broker.endpoint, canary)
    with capture_logs() as logs:
        async with serving_both(config):
            for node_id in (1, 2, 1, 2):
                async with connected(LOOPBACK, port_of(config, node_id)) as client:
                    assert await client.beat() == 0
    assert "broker moved" not in [line["event"] for line in logs]


async def test_endless_brokers_meet_the_limit(broker: Broker, canary: Broker) -> None:
    config = beside(broker.endpoint, canary, limits={"brokers": 3})
    broker.told = dict.fromkeys(range(1, 1001), broker.endpoint)
    with capture_logs() as logs:
        async with serving_both(config) as gateway, connected(LOOPBACK, port_of(config)) as client:
            answer = await client.ask(MetadataRequest(topics=[]), MetadataResponse)
            assert [it.port for it in answer.brokers] == [port_of(config, n) for n in (1, 2, 3)] + [NOWHERE] * 997
            assert gateway.report().listening["clients"].keys() == {"1", "2", "3"}
            assert gateway.counters.over_brokers >= 997
    (line,) = (line for line in logs if line["event"] == "too many brokers")
    assert "limits.brokers" in line["way_out"]


async def test_an_answer_of_endless_brokers_costs_its_connection(broker: Broker, canary: Broker) -> None:
    config = beside(broker.endpoint, canary)
    with capture_logs() as logs:
        async with serving_both(config), connected(LOOPBACK, port_of(config)) as client:
            assert await client.beat() == 0
            broker.told = {node_id: Endpoint("kafka", 9092) for node_id in range(70_000, 85_000)}
            await client.send(request_frame(MetadataRequest(topics=[]), 4, 2, None))
            assert await client.is_closed()
    assert any("in one answer" in line.get("why", "") for line in logs)


async def test_a_cluster_that_comes_late_and_finds_its_port_taken_waits_for_it(
    nursery: trio.Nursery, broker: Broker, canary: Broker
) -> None:
    broker.mute = {"Metadata"}
    config = beside(broker.endpoint, canary)
    gateway = Gateway(config)
    with capture_logs() as logs:
        nursery.start_soon(gateway.run, lambda report: None)
        with trio.fail_after(PATIENCE):
            await broker.heard.wait()
        taken = await trio.open_tcp_listeners(port_of(config), host=LOOPBACK)
        broker.speak.set()
        with trio.fail_after(PATIENCE):
            while not any(line["event"] == "bootstrap port not opened" for line in logs):
                await trio.lowlevel.checkpoint()
        assert await sings(config)
        reading = gateway.report().reading
        assert reading["closed_ports"] >= 1
        await taken[0].aclose()
        with trio.fail_after(PATIENCE):
            while not gateway.ready:
                await trio.lowlevel.checkpoint()
    async with connected(LOOPBACK, port_of(config)) as client:
        assert await client.beat() == 0
    gateway.stop()


async def test_a_bootstrap_name_that_nobody_knows_keeps_no_other_waiting(
    nursery: trio.Nursery, broker: Broker, canary: Broker
) -> None:
    config = beside(Endpoint("nobody.invalid", 9092), canary)
    port = config.listeners[CANARY].bind.port
    gateway = Gateway(config)
    with capture_logs() as logs:
        nursery.start_soon(gateway.run, lambda report: None)
        with trio.fail_after(PATIENCE):
            while not any(line["event"] == "upstream unreachable" for line in logs) or is_free(LOOPBACK, port):
                await trio.lowlevel.checkpoint()
        assert await sings(config)
    assert not gateway.ready
    gateway.stop()
