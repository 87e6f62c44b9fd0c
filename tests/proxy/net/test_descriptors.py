"""Without free descriptors nothing ends: open connections go on, and new ones wait."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs

from proxy.core.topology import NOWHERE
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.proxy.net.canary import CANARY, beside, serving_both
from tests.proxy.net.exhausted import exhausted
from tests.proxy.net.scripted import LOOPBACK, PATIENCE, Broker, Client, connected, port_of


@pytest.fixture
async def canary(nursery: trio.Nursery) -> Broker:
    canary = Broker()
    await nursery.start(canary.serve)
    return canary


async def test_a_broker_that_is_learned_then_has_its_port_when_there_are_descriptors_again(
    broker: Broker, canary: Broker
) -> None:
    config = beside(broker.endpoint, canary)
    with capture_logs() as logs:
        async with serving_both(config) as gateway, connected(LOOPBACK, port_of(config)) as client:
            assert await client.beat() == 0
            broker.told = {1: broker.endpoint, 2: broker.endpoint}
            with exhausted():
                answer = await client.ask(MetadataRequest(topics=[]), MetadataResponse)
                assert [it.port for it in answer.brokers] == [port_of(config, 1), NOWHERE]
                assert await client.beat() == 0
            with trio.fail_after(PATIENCE):
                while "2" not in gateway.report().listening["clients"]:
                    await trio.sleep(0.01)
            answer = await client.ask(MetadataRequest(topics=[]), MetadataResponse)
            assert [it.port for it in answer.brokers] == [port_of(config, 1), port_of(config, 2)]
            assert gateway.counters.closed_ports == 1
    line = next(line for line in logs if line["event"] == "no port for a broker")
    assert "too many open files; raise the limit of open files (ulimit -n)" in line["why"]


async def test_who_comes_then_waits_and_the_line_about_it_is_one(broker: Broker, canary: Broker) -> None:
    config = beside(broker.endpoint, canary)
    with capture_logs() as logs:
        async with serving_both(config) as gateway, connected(LOOPBACK, port_of(config)) as open_before:
            assert await open_before.beat() == 0
            sockets = [trio.socket.socket() for _ in range(5)]
            with exhausted():
                for sock in sockets:
                    await sock.connect((LOOPBACK, config.listeners[CANARY].bind.port))
                with trio.fail_after(PATIENCE):
                    while gateway.counters.failed_accepts < 3:
                        await trio.sleep(0.01)
                assert await open_before.beat() == 0
            for sock in sockets:
                async with trio.SocketStream(sock) as stream:
                    assert await Client(stream).beat() == 0
    assert len([line for line in logs if line["event"] == "cannot accept"]) == 1


async def test_rules_that_change_then_are_read_when_they_can_be(broker: Broker, canary: Broker, tmp_path: Path) -> None:
    rules = tmp_path / "acl.yaml"
    rules.write_text("unmatched: allow\nacls: []\n")
    config = beside(broker.endpoint, canary, plugins=[{"acl": {"rules": str(rules)}}])
    descriptor = os.open(rules, os.O_WRONLY)
    with capture_logs() as logs:
        async with serving_both(config), connected(LOOPBACK, port_of(config)) as client:
            assert await client.beat() == 0
            with exhausted():
                os.truncate(descriptor, 0)
                os.write(descriptor, b"unmatched: allow\nacls: [{deny: User:*, to: Read, groups: h}]\n")
                with trio.fail_after(PATIENCE):
                    while not any(line["event"] == "rules not read yet" for line in logs):
                        await trio.sleep(0.01)
                assert await client.beat() == 0
            os.close(descriptor)
            with trio.fail_after(PATIENCE):
                while not any(line["event"] == "rules reloaded" for line in logs):
                    await trio.sleep(0.01)
    assert "rules not reloaded" not in [line["event"] for line in logs]
