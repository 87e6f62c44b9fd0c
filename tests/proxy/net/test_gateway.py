from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest
import trio
from structlog.testing import capture_logs

from chaos.ports import is_free
from proxy.config import Config, PluginUse
from proxy.core.context import Connection
from proxy.core.decorators import on_event
from proxy.core.events import Closed
from proxy.core.plugin import Plugin
from proxy.core.topology import Endpoint
from proxy.net import process
from proxy.net.channel import Learned
from proxy.net.gateway import Gateway
from proxy.net.hosted import LAST_WAIT
from proxy.net.process import DrainResult
from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import request_frame
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.heartbeat import HeartbeatResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.telemetry.measures import FAULTS, MEASURES
from proxy.telemetry.report import Report
from tests.proxy.net.scripted import (
    HEARTBEAT_REQUEST,
    LOOPBACK,
    PATIENCE,
    Broker,
    configuration,
    connected,
    port_of,
    serving,
)
from tests.real.ports import free_block, free_port

KAFKA = Endpoint("kafka", 9092)


def ends(logs: Sequence[Any]) -> list[str]:
    return [line["why"] for line in logs if line["event"] == "connection ended"]


async def test_clients_reach_the_broker_by_both_ports(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    async with serving(config):
        for port in (port_of(config), port_of(config, 1)):
            async with connected(LOOPBACK, port) as client:
                assert [await client.beat(number) for number in range(3)] == [0, 0, 0]


async def test_no_port_is_open_before_the_brokers_are_known(nursery: trio.Nursery, broker: Broker) -> None:
    broker.mute = {"Metadata"}
    config = configuration(broker.endpoint)
    gateway = Gateway(config)
    started = trio.Event()
    nursery.start_soon(gateway.run, lambda report: started.set())
    with trio.fail_after(PATIENCE):
        await broker.heard.wait()
    assert not gateway.report().ready
    with pytest.raises(OSError, match="connect"):
        await trio.open_tcp_stream(LOOPBACK, port_of(config))
    broker.speak.set()
    with trio.fail_after(PATIENCE):
        await started.wait()
    async with connected(LOOPBACK, port_of(config)) as client:
        assert await client.beat() == 0
    assert gateway.report().ready


async def test_a_cluster_that_cannot_be_reached_keeps_no_other_waiting(nursery: trio.Nursery, broker: Broker) -> None:
    config = configuration(broker.endpoint).model_dump(exclude_unset=True)
    config["clusters"]["away"] = {"bootstrap": [f"{LOOPBACK}:{free_port(LOOPBACK)}"]}
    config["listeners"]["nobody"] = {"cluster": "away", "bind": f"{LOOPBACK}:{free_block(8, LOOPBACK)}"}
    both = Config.model_validate(config)
    told: list[Report] = []
    gateway = Gateway(both)
    nursery.start_soon(gateway.run, told.append)
    with trio.fail_after(PATIENCE):
        while not told:
            await trio.lowlevel.checkpoint()
    assert [report.listening.keys() for report in told] == [{"clients"}]
    async with connected(LOOPBACK, port_of(both)) as client:
        assert await client.beat() == 0
        gateway.learn(Learned("main", 7, *broker.endpoint))
    async with connected(LOOPBACK, port_of(both, 7)) as client:
        assert await client.beat() == 0
    assert not gateway.report().ready
    assert is_free(LOOPBACK, both.listeners["nobody"].bind.port)


async def test_a_broker_that_appears_has_its_port_before_a_client_is_told(
    nursery: trio.Nursery, broker: Broker
) -> None:
    newcomer = Broker(node_id=4)
    await nursery.start(newcomer.serve)
    config = configuration(broker.endpoint)
    async with serving(config), connected(LOOPBACK, port_of(config)) as client:
        broker.told = {1: broker.endpoint, 4: newcomer.endpoint}
        answer = await client.ask(MetadataRequest(topics=[]), MetadataResponse)
        told = {it.node_id: (it.host, it.port) for it in answer.brokers}
        assert told == {1: (LOOPBACK, port_of(config, 1)), 4: (LOOPBACK, port_of(config, 4))}
        socket.create_connection(told[4], timeout=PATIENCE).close()  # at once: nothing of ours ran in between
        async with connected(*told[4]) as at_newcomer:
            await at_newcomer.beat()
        assert ("Heartbeat", 4) in newcomer.asked


async def test_a_broker_that_appears_in_a_large_answer_has_its_port_too(broker: Broker) -> None:
    """What is large is looked at in a fiber: ports are opened and tasks are begun from there."""
    config = configuration(broker.endpoint)
    async with serving(config) as gateway, connected(LOOPBACK, port_of(config)) as client:
        broker.told = {1: broker.endpoint, 4: broker.endpoint} | dict.fromkeys(range(70000, 73000), KAFKA)
        answer = await client.ask(MetadataRequest(topics=[]), MetadataResponse)
        assert [it.port for it in answer.brokers[:3]] == [port_of(config, 1), port_of(config, 4), 0]
        async with connected(LOOPBACK, port_of(config, 4)) as at_newcomer:
            assert await at_newcomer.beat() == 0
        assert gateway.link_counters.failed_handlers == 0


async def test_a_broker_that_dies_with_requests_in_flight_closes_the_client_and_is_named(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    broker.mute = {"Heartbeat"}
    with capture_logs() as logs:
        async with serving(config), connected(LOOPBACK, port_of(config, 1)) as client:
            await client.send(request_frame(HEARTBEAT_REQUEST, 4, 1, None))
            await broker.heard.wait()
            broker.die()
            assert await client.is_closed()
    (line,) = [line for line in logs if line["event"] == "connection ended"]
    assert line["broker"] == 1
    assert "broker" in line["why"]


async def test_a_broker_that_closes_a_quiet_connection_closes_it_quietly(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    with capture_logs() as logs:
        async with serving(config), connected(LOOPBACK, port_of(config, 1)) as client:
            await client.beat()
            broker.die()
            assert await client.is_closed()
    assert ends(logs) == []


async def test_a_client_that_never_asks_is_ended(broker: Broker) -> None:
    config = configuration(broker.endpoint, limits={"first_frame": "100ms"})
    with capture_logs() as logs:
        async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
            await client.send(request_frame(HEARTBEAT_REQUEST, 4, 1, None)[:-1])
            assert await client.is_closed()
            assert gateway.counters.late_first_frame == 1
    assert ends(logs) == ["no request within 0.1 s (limits.first_frame)"]


async def test_a_client_that_falls_silent_is_ended(broker: Broker) -> None:
    config = configuration(broker.endpoint, limits={"idle": "200ms"})
    with capture_logs() as logs:
        async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
            assert await client.beat() == 0
            assert await client.is_closed()
            assert gateway.counters.idle == 1
            assert gateway.counters.ended_by_fault == 0
    assert [line["log_level"] for line in logs if line["event"] == "connection ended"] == ["info"]
    assert ends(logs) == ["nothing passed for 0.2 s (limits.idle)"]


async def test_a_request_that_does_not_come_to_its_end_is_ended(broker: Broker) -> None:
    config = configuration(broker.endpoint, limits={"frame_time": "200ms"})
    with capture_logs() as logs:
        async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
            assert await client.beat() == 0
            with suppress(trio.BrokenResourceError):
                for byte in request_frame(HEARTBEAT_REQUEST, 4, 1, None)[:-1]:
                    await client.send(bytes((byte,)))
                    await trio.sleep(0.02)
            assert await client.is_closed()
            assert gateway.counters.slow_frames == 1
    assert ends(logs) == ["a request of the client was not whole in time (limits.frame_time)"]


async def test_draining_lets_answers_out_and_no_client_in(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    broker.mute = {"Heartbeat"}
    with capture_logs() as logs:
        async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
            await client.send(request_frame(HEARTBEAT_REQUEST, 4, 7, None))
            await broker.heard.wait()
            gateway.stop()
            with trio.fail_after(PATIENCE):
                while not is_free(LOOPBACK, port_of(config, 1)):
                    await trio.lowlevel.checkpoint()
            assert not gateway.report().ready
            broker.speak.set()
            assert (await client.answer(HeartbeatResponse)).error_code == 0
            assert await client.is_closed()
    assert ends(logs) == []
    assert gateway.counters.cut_by_drain == 0
    assert gateway.ending == DrainResult("connections", 1, 0)


async def test_what_is_not_answered_in_time_is_cut(broker: Broker) -> None:
    config = configuration(broker.endpoint, limits={"drain": "100ms"})
    broker.mute = {"Heartbeat"}
    with capture_logs() as logs:
        async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
            await client.send(request_frame(HEARTBEAT_REQUEST, 4, 1, None))
            await broker.heard.wait()
            gateway.stop()
            assert await client.is_closed()
    assert ends(logs) == ["not answered within 0.1 s (limits.drain)"]
    assert gateway.counters.cut_by_drain == 1
    assert gateway.ending == DrainResult("connections", 1, 1)


class Hearing(Plugin):
    """Notes which connections it hears of, and when it stops."""

    heard: ClassVar[list[str]] = []

    @on_event(Closed)
    def closed(self, connection: Connection, event: Closed) -> None:
        self.heard.append(f"closed: {event.reason}")

    def stop(self) -> None:
        self.heard.append("stopped")


async def test_plugins_hear_of_connections_that_are_cut_at_once(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "ECHO", 0.0)
    broker.mute = {"Heartbeat"}
    config = configuration(broker.endpoint)
    hearing = PluginUse("hearing", Hearing, Hearing.Options())
    gateway = Gateway(config.model_copy(update={"plugins": (hearing,)}))
    started, codes = trio.Event(), []

    async def run() -> None:
        codes.append(await process.serve(gateway, lambda report: started.set(), lambda: None))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        await started.wait()
        async with connected(LOOPBACK, port_of(config, 1)) as client:
            await client.send(request_frame(HEARTBEAT_REQUEST, 4, 1, None))
            await broker.heard.wait()
            os.kill(os.getpid(), signal.SIGTERM)
            while not gateway.ending.there:
                await trio.lowlevel.checkpoint()
            os.kill(os.getpid(), signal.SIGTERM)
            assert await client.is_closed()
    assert Hearing.heard == ["closed: the proxy ends at once", "stopped"]
    assert codes == [process.CUT]
    assert gateway.ending == DrainResult("connections", 1, 1)


async def test_the_report_counts_what_passed(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
        await client.beat()
        await client.beat()
        report = gateway.report()
        assert (await gateway.reports()) == {0: report}
    assert report.ready
    assert report.listening == {"clients": {"1": port_of(config, 1)}}
    assert report.clusters == {"main": {"1": str(broker.endpoint)}}
    assert report.reading["open"] == report.reading["accepted"] == 1
    assert report.reading["requests_Heartbeat"] == 2
    assert report.reading["bytes_from_clients"] == 2 * len(request_frame(HEARTBEAT_REQUEST, 4, 1, "test"))
    assert report.reading["bytes_from_brokers"] > 0


async def test_nothing_that_works_is_counted_as_a_fault(broker: Broker, tmp_path: Path) -> None:
    """Among it what the proxy answers itself, and clients and brokers that close a connection."""
    rules = tmp_path / "acl.yaml"
    rules.write_text("unmatched: allow\nacls: []\n")
    config = configuration(broker.endpoint, plugins=[{"acl": {"rules": str(rules)}}])
    async with serving(config) as gateway:
        for node_id in (None, 1):
            async with connected(LOOPBACK, port_of(config, node_id)) as client:
                for version in (0, 3):
                    asked = ApiVersionsRequest(client_software_name="test", client_software_version="1")
                    assert not (await client.ask(asked, ApiVersionsResponse, version)).error_code
                assert (await client.ask(MetadataRequest(topics=[]), MetadataResponse)).brokers
                assert await client.beat() == 0
        broker.closes_after = {"Heartbeat"}
        async with connected(LOOPBACK, port_of(config, 1)) as client:
            assert await client.beat() == 0
            assert await client.is_closed()
        with trio.fail_after(PATIENCE):
            while gateway.report().reading["open"]:
                await trio.sleep(0.01)
        reading = gateway.report().reading
    # A machine that has no CPU time for a moment holds up the loop too. The supervisor counts dead workers.
    left_out = {"slow_turns", "dead_workers"}
    faults = [each.key for each in MEASURES if each.instrument == FAULTS and each.key not in left_out]
    assert len(faults) > 10
    assert {name: reading[name] for name in faults} == dict.fromkeys(faults, 0)


async def test_a_failure_while_brokers_are_discovered_is_a_line_and_they_are_discovered_again(broker: Broker) -> None:
    config, told = configuration(broker.endpoint), list[object]()

    def tell(learned: object) -> None:
        told.append(learned)
        if len(told) == 1:
            raise RuntimeError("a bug")

    with capture_logs() as logs:
        async with serving(config, tell) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
            assert await client.beat() == 0
            assert gateway.counters.failed_tasks == 1
    (line,) = (line for line in logs if line["event"] == "a task failed")
    assert line["task"] == "discovering brokers"
    assert "please report" in line["way_out"]


async def test_a_worker_leaves_a_plugin_that_hangs_before_it_would_be_killed(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hanging(Plugin):
        let_go: ClassVar = threading.Event()

        def stop(self) -> None:
            self.let_go.wait()

    monkeypatch.setattr("proxy.net.plugin_host.AT_ONCE", 0.1)
    uses = (PluginUse("hanging", Hanging, Hanging.Options()),)
    config = configuration(broker.endpoint, limits={"drain": "100ms"}).model_copy(update={"plugins": uses})
    try:
        with capture_logs() as logs, trio.fail_after(LAST_WAIT / 2):
            async with serving(config, lambda learned: None):
                pass
    finally:
        Hanging.let_go.set()
    assert [line["plugin"] for line in logs if line["event"] == "plugin left while it stopped"] == ["hanging"]


@pytest.mark.parametrize(
    ("options", "answer", "enforced", "event"),
    [
        ({}, ErrorCode.GROUP_AUTHORIZATION_FAILED, "yes", "denied"),
        ({"shadow": True}, ErrorCode.NONE, "no", "would be denied"),
    ],
)
async def test_what_the_rules_do_not_allow_is_counted_and_told(
    broker: Broker, tmp_path: Path, options: dict[str, bool], answer: ErrorCode, enforced: str, event: str
) -> None:
    rules = tmp_path / "acl.yaml"
    rules.write_text("acls: [{deny: User:*, to: Read, groups: g}]\n")
    config = configuration(broker.endpoint, plugins=[{"acl": {"rules": str(rules), **options}}])
    with capture_logs() as lines:
        async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
            assert [await client.beat() for _ in range(3)] == [answer] * 3
            (count,) = gateway.report().plugins
    assert (count.attributes, count.value) == ({"api": "Heartbeat", "enforced": enforced}, 3)
    (line,) = (line for line in lines if line["event"] == event)
    assert (line["operation"], line["name"], line["rule"]) == ("Read", "g", f"{rules}:1:8")


async def test_what_is_learned_once_is_learned_by_all_who_stand_before_the_cluster(broker: Broker) -> None:
    """Whichever listener or worker a client was told by: where it goes then, its broker is known."""
    other = {"cluster": "main", "bind": f"{LOOPBACK}:{free_block(9, LOOPBACK)}"}
    config = configuration(broker.endpoint).model_dump(exclude_unset=True)
    config["listeners"]["other"] = other
    both = Config.model_validate(config)
    told: list[Learned] = []
    async with serving(both, told.append) as gateway:
        gateway.learn(Learned("main", 7, *broker.endpoint))
        gateway.learn(Learned("another", 6, *broker.endpoint))
        for listener in both.listeners.values():
            async with connected(LOOPBACK, listener.bind.port + 1 + 7) as client:
                assert await client.beat() == 0
            assert is_free(LOOPBACK, listener.bind.port + 1 + 6)
    assert told == [Learned("main", broker.node_id, *broker.endpoint)]  # of the other they know


async def test_what_others_learned_before_all_was_open_is_not_forgotten(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    broker.mute = {"Metadata"}
    gateway, started = Gateway(config), trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(gateway.run, lambda report: started.set())
        await broker.heard.wait()
        gateway.learn(Learned("main", 7, *broker.endpoint))
        broker.speak.set()
        with trio.fail_after(PATIENCE):
            await started.wait()
        async with connected(LOOPBACK, port_of(config, 7)) as client:
            assert await client.beat() == 0
        gateway.stop()
