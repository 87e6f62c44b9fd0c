"""Another configuration comes into force while clients are connected."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
import trio
from structlog.testing import capture_logs

from chaos.ports import is_free
from plugins.faults import Faults
from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from proxy.config import Config, PluginUse
from proxy.core.context import Context
from proxy.core.decisions import Decision, Forward
from proxy.core.decorators import on_response
from proxy.core.plugin import Options, Plugin
from proxy.core.services import PluginError
from proxy.net.gateway import Gateway
from proxy.net.process import StartError
from proxy.net.upstream import EVERY
from proxy.protocol.api import HEARTBEAT
from proxy.protocol.errors import ErrorCode
from proxy.protocol.header import request_frame
from proxy.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from proxy.protocol.messages.heartbeat import HeartbeatResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from proxy.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from tests.plugins.sasl import PLAIN_ALICE, handshake
from tests.proxy.net.scripted import (
    HEARTBEAT_REQUEST,
    LOOPBACK,
    PATIENCE,
    Broker,
    Client,
    configuration,
    connected,
    port_of,
    serving,
)
from tests.real.ports import free_block


class Marking(Plugin):
    """Writes its mark into answers to Heartbeats."""

    class Options(Options):
        mark: int = 0
        fails: bool = False

    running: ClassVar[list[int]] = []

    def start(self) -> None:
        if self.options.fails:
            raise PluginError(f"mark {self.options.mark} cannot be")
        self.running.append(self.options.mark)

    def stop(self) -> None:
        self.running.remove(self.options.mark)

    @on_response(HeartbeatResponse)
    def answer(self, ctx: Context, response: HeartbeatResponse) -> Decision:
        response.throttle_time_ms = self.options.mark
        return Forward(response)


class Beginning(Plugin):
    """Takes its time to begin."""

    begins, may_begin = threading.Event(), threading.Event()

    def start(self) -> None:
        self.begins.set()
        assert self.may_begin.wait(PATIENCE)


class Hanging(Plugin):
    """Hangs at its start until it is let go."""

    begins, let_go = threading.Event(), threading.Event()

    def start(self) -> None:
        self.begins.set()
        assert self.let_go.wait(PATIENCE)


@pytest.fixture(autouse=True)
def nobody_runs() -> None:
    Marking.running.clear()


def use(mark: int, *, fails: bool = False) -> PluginUse:
    return PluginUse("marking", Marking, Marking.Options(mark=mark, fails=fails))


def having(config: Config, *plugins: PluginUse, **more: Any) -> Config:
    """The same with these plugins, and with other options."""
    changed = Config.model_validate(
        {"clusters": _plain(config.clusters), "listeners": _plain(config.listeners), **more}
    )
    limits = changed.limits if "limits" in more else config.limits
    return changed.model_copy(update={"plugins": plugins, "limits": limits})


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_unset=True)
    if hasattr(value, "items"):
        return {name: _plain(each) for name, each in value.items()}
    return value


async def mark(client: Client, number: int = 1) -> int:
    """Which plugin saw the answer to a Heartbeat."""
    answer = await client.ask(HEARTBEAT_REQUEST, HeartbeatResponse, number=number)
    assert answer.error_code == 0
    return answer.throttle_time_ms


async def until(what: Any) -> None:
    with trio.fail_after(PATIENCE):
        while not what():
            await trio.sleep(0.01)


async def soon(what: Any) -> None:
    """Wait for what may be over again after a few turns of the other tasks."""
    with trio.fail_after(PATIENCE):
        while not what():
            await trio.lowlevel.checkpoint()


def listener(port: int, **more: Any) -> dict[str, Any]:
    return {"cluster": "main", "bind": f"{LOOPBACK}:{port}", **more}


@asynccontextmanager
async def beating(config: Config, *, listener: str = "clients") -> AsyncIterator[Client]:
    async with connected(LOOPBACK, config.listeners[listener].bind.port) as client:
        await client.beat()
        yield client


async def test_a_request_ends_by_the_plugins_that_it_began_with(broker: Broker) -> None:
    config = having(configuration(broker.endpoint), use(1))
    async with serving(config) as gateway, beating(config) as client:
        assert await mark(client) == 1
        broker.mute = {"Heartbeat"}
        await client.send(request_frame(HEARTBEAT_REQUEST, 4, 1, None))
        await broker.heard.wait()
        await gateway.apply(having(config, use(2)))
        assert Marking.running == [1, 2]
        broker.mute = ()
        broker.speak.set()
        assert (await client.answer(HeartbeatResponse)).throttle_time_ms == 1
        assert await mark(client) == 2
        await until(lambda: Marking.running == [2])
        await gateway.apply(having(config))
        assert await mark(client) == 0
        await until(lambda: not Marking.running)
    assert gateway.report().reading["requests_Heartbeat"] == 5


async def test_a_plugin_of_the_same_name_and_options_is_the_same(broker: Broker) -> None:
    config = having(configuration(broker.endpoint), use(1), use(2))
    async with serving(config) as gateway:
        before = gateway.snapshot
        await gateway.apply(having(config, use(1), use(3), limits={"idle": "5m"}))
        after = gateway.snapshot
        assert after.clusters["main"].plugins[0] is before.clusters["main"].plugins[0]
        assert after.clusters["main"].plugins[1] is not before.clusters["main"].plugins[1]
        assert before.config.limits.idle == 600
        await gateway.apply(having(config, use(1), use(3)))
        assert gateway.snapshot.listeners["clients"].filters is after.listeners["clients"].filters, "nothing changed"
    assert not Marking.running


async def test_what_cannot_begin_changes_nothing_and_all_of_it_is_said(broker: Broker, tmp_path: Path) -> None:
    config = having(configuration(broker.endpoint), use(1))
    users = str(tmp_path / "users.yaml")
    bad = {"clients": listener(port_of(config), sasl={"mechanisms": ["PLAIN"], "credentials": users})}
    async with serving(config) as gateway, beating(config) as client:
        before = gateway.snapshot
        with pytest.raises(StartError) as raised:
            await gateway.apply(having(config, use(2), use(3, fails=True)))
        assert raised.value.reasons == ('plugin "marking-2": mark 3 cannot be',)
        with pytest.raises(StartError, match="there is no such file"):
            await gateway.apply(having(config, use(2), listeners=bad))
        assert gateway.snapshot is before
        await until(lambda: Marking.running == [1])
        assert await mark(client) == 1


async def test_a_listener_that_is_gone_closes_and_lets_its_clients_go(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    second = free_block(8, LOOPBACK)
    both = having(config, listeners={**_plain(config.listeners), "second": listener(second)})
    async with (
        serving(both) as gateway,
        beating(both) as stays,
        beating(both, listener="second") as asks,
        beating(both, listener="second") as quiet,
    ):
        broker.mute = {"Heartbeat"}
        await asks.send(request_frame(HEARTBEAT_REQUEST, 4, 7, None))
        await broker.heard.wait()
        await gateway.apply(config)
        assert is_free(LOOPBACK, second)
        assert is_free(LOOPBACK, second + 2)
        assert await quiet.is_closed()
        broker.mute = ()
        broker.speak.set()
        assert (await asks.answer(HeartbeatResponse)).error_code == 0
        assert await asks.is_closed()
        assert await stays.beat() == 0
        assert gateway.report().listening.keys() == {"clients"}
        assert gateway.ready
        await until(lambda: gateway.counters.open == 1)
    assert gateway.report().reading["requests_Heartbeat"] == 5


async def test_what_a_gone_listener_has_in_flight_is_cut_when_the_time_is_over(broker: Broker) -> None:
    config = having(configuration(broker.endpoint), limits={"drain": "50ms"})
    both = having(config, listeners={**_plain(config.listeners), "second": listener(free_block(8, LOOPBACK))})
    async with serving(both) as gateway, beating(both, listener="second") as asks:
        broker.mute = {"Heartbeat"}
        await asks.send(request_frame(HEARTBEAT_REQUEST, 4, 7, None))
        await broker.heard.wait()
        with capture_logs() as logs:
            await gateway.apply(config)
            assert await asks.is_closed()
        broker.speak.set()
    assert "not answered within 0.05 s (limits.drain)" in [line.get("why") for line in logs]
    assert gateway.counters.cut_by_drain == 1


async def test_a_listener_that_moves_closes_here_and_opens_there(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    moved = having(config, listeners={"clients": listener(free_block(8, LOOPBACK))})
    async with serving(config) as gateway, beating(config) as client:
        await gateway.apply(moved)
        assert is_free(LOOPBACK, port_of(config))
        assert await client.is_closed()
        await until(lambda: gateway.ready)
        for port in (port_of(moved), port_of(moved, 1)):
            async with connected(LOOPBACK, port) as other:
                assert await other.beat() == 0


async def test_a_new_listener_has_the_port_where_another_had_a_broker_until_it_is_removed(
    broker: Broker,
) -> None:
    config = configuration(broker.endpoint)
    taken = port_of(config, 1)
    both = having(config, listeners={**_plain(config.listeners), "second": listener(taken)})
    async with serving(config) as gateway, beating(config) as client:
        await gateway.apply(both)
        await until(lambda: gateway.ready)
        async with connected(LOOPBACK, taken) as other:
            assert await other.beat() == 0
        answer = await client.ask(MetadataRequest(topics=[]), MetadataResponse)
        assert [it.port for it in answer.brokers] == [0]
        assert gateway.report().listening == {"clients": {}, "second": {"1": taken + 2}}
        await gateway.apply(config)
        assert gateway.report().listening == {"clients": {"1": taken}}
        answer = await client.ask(MetadataRequest(topics=[]), MetadataResponse)
        assert [it.port for it in answer.brokers] == [taken]
        async with connected(LOOPBACK, taken) as other:
            assert await other.beat() == 0


async def test_another_host_is_told_on_connections_that_are_open(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    async with serving(config) as gateway, beating(config) as client:
        told = having(config, listeners={"clients": listener(port_of(config), advertise="kafka.example.com")})
        await gateway.apply(told)
        answer = await client.ask(MetadataRequest(topics=[]), MetadataResponse)
        assert [(it.host, it.port) for it in answer.brokers] == [("kafka.example.com", port_of(config, 1))]


async def test_clusters_come_and_go(broker: Broker, nursery: trio.Nursery) -> None:
    other = Broker(node_id=2)
    await nursery.start(other.serve)
    config = configuration(broker.endpoint)
    port = free_block(8, LOOPBACK)
    both = having(
        config,
        clusters={**_plain(config.clusters), "other": {"bootstrap": [str(other.endpoint)]}},
        listeners={**_plain(config.listeners), "second": listener(port, cluster="other")},
    )
    async with serving(config) as gateway, beating(config) as stays:
        await gateway.apply(both)
        await until(lambda: gateway.ready)
        assert gateway.report().clusters.keys() == {"main", "other"}
        async with connected(LOOPBACK, port + 3) as client:
            assert await client.beat() == 0
            await gateway.apply(config)
            assert await client.is_closed()
        assert is_free(LOOPBACK, port)
        assert gateway.report().clusters.keys() == {"main"}
        assert await stays.beat() == 0


async def test_a_cluster_that_is_elsewhere_is_found_there(broker: Broker, nursery: trio.Nursery) -> None:
    other = Broker(node_id=2)
    await nursery.start(other.serve)
    config = configuration(broker.endpoint)
    async with serving(config) as gateway, beating(config) as stays:
        await gateway.apply(having(config, clusters={"main": {"bootstrap": [str(other.endpoint)]}}))
        asked = len(broker.asked)
        async with beating(config):
            assert len(broker.asked) == asked
        await until(lambda: 2 in gateway.report().listening["clients"] or "2" in gateway.report().listening["clients"])
        assert await stays.beat() == 0
        assert len(broker.asked) == asked + 1


async def test_who_is_still_at_the_former_cluster_does_not_lead_others_there(
    broker: Broker, nursery: trio.Nursery
) -> None:
    other = Broker()
    await nursery.start(other.serve)
    config = configuration(broker.endpoint)
    async with serving(config) as gateway, beating(config) as stays:
        await gateway.apply(having(config, clusters={"main": {"bootstrap": [str(other.endpoint)]}}))
        await until(lambda: gateway.report().clusters["main"] == {"1": str(other.endpoint)})
        answer = await stays.ask(MetadataRequest(topics=[]), MetadataResponse)
        assert [(it.host, it.port) for it in answer.brokers] == [(LOOPBACK, port_of(config, 1))]
        asked = len(broker.asked)
        async with connected(LOOPBACK, port_of(config, 1)) as comes:
            assert await comes.beat() == 0
        assert len(broker.asked) == asked
        assert await stays.beat() == 0
        assert len(broker.asked) == asked + 1


async def test_a_broker_that_was_one_too_many_has_a_port_soon_after_more_are_allowed(broker: Broker) -> None:
    broker.told = {1: broker.endpoint, 2: broker.endpoint}
    config = having(configuration(broker.endpoint), limits={"brokers": 1})
    async with serving(config) as gateway:
        assert gateway.report().listening["clients"].keys() == {"1"}
        began = trio.current_time()
        await gateway.apply(having(config, limits={"brokers": 2}))
        await until(lambda: gateway.report().listening["clients"].keys() == {"1", "2"})
        assert trio.current_time() - began < EVERY / 2, "it waited for the next discovery"


async def test_limits_hold_on_connections_that_are_open(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    async with serving(config) as gateway, beating(config) as client:
        await gateway.apply(having(config, limits={"frame": "1KiB", "connections": 1}))
        async with connected(LOOPBACK, port_of(config)) as another:
            assert await another.is_closed()
        await client.send(request_frame(MetadataRequest(topics=[]), 4, 1, "x" * 2000))
        assert await client.is_closed()
        await until(lambda: not gateway.counters.open)
        await gateway.apply(config)
        async with beating(config):
            pass


async def test_time_limits_hold_on_connections_that_are_open(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    async with serving(config) as gateway, beating(config) as client:
        await gateway.apply(having(config, limits={"idle": "100ms"}))
        assert await client.is_closed()
    assert gateway.counters.idle == 1


async def test_who_came_before_sasl_was_asked_for_goes_on_and_who_comes_is_asked(
    broker: Broker, tmp_path: Path
) -> None:
    save(tmp_path / "users.yaml", {"alice": verifiers("secret")})
    config = having(configuration(broker.endpoint), use(1))
    sasl = {"mechanisms": ["PLAIN"], "credentials": str(tmp_path / "users.yaml")}
    async with serving(config) as gateway, beating(config) as before:
        asking = having(config, use(2), listeners={"clients": listener(port_of(config), sasl=sasl)})
        await gateway.apply(asking)
        assert await mark(before) == 2
        async with connected(LOOPBACK, port_of(config)) as client:
            await client.send(request_frame(HEARTBEAT_REQUEST, 4, 1, None))
            assert await client.is_closed()
        await gateway.apply(having(config, use(3)))
        assert await mark(before) == 3
        async with beating(config) as client:
            assert await mark(client) == 3


async def log_in(client: Client) -> int:
    """Authenticate as alice. Returns the error."""
    assert not (await client.ask(SaslHandshakeRequest(mechanism="PLAIN"), SaslHandshakeResponse, 1)).error_code
    token = SaslAuthenticateRequest(auth_bytes=PLAIN_ALICE)
    return (await client.ask(token, SaslAuthenticateResponse, 1)).error_code


@pytest.mark.parametrize("again", [False, True])
async def test_who_authenticates_after_a_change_does_so_by_what_is_in_force(
    broker: Broker, tmp_path: Path, again: bool
) -> None:
    config = configuration(broker.endpoint)

    def knowing(file: str, *users: str) -> Config:
        save(tmp_path / file, {user: verifiers(f"{user}-secret") for user in users})
        sasl = {"mechanisms": ["PLAIN"], "credentials": str(tmp_path / file), "session": "1h"}
        return having(config, listeners={"clients": listener(port_of(config), sasl=sasl)})

    others = knowing("one", "alice"), knowing("two", "alice", "bob"), knowing("three", "bob"), config
    for after, error in zip(others, (0, 0, ErrorCode.SASL_AUTHENTICATION_FAILED, None), strict=True):
        async with serving(others[0]) as gateway, connected(LOOPBACK, port_of(config)) as client:
            if again:
                assert await log_in(client) == 0
            else:
                asked = ApiVersionsRequest(client_software_name="test", client_software_version="1")
                assert not (await client.ask(asked, ApiVersionsResponse, 3)).error_code
            await gateway.apply(after)
            if again:
                assert await client.beat() == 0
            if error is None:
                await client.send(handshake(2))
            else:
                assert await log_in(client) == error
            assert await client.is_closed() if error != 0 else await client.beat() == 0


async def test_files_are_read_anew(broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.net.watching.EVERY", 3600.0)
    users = tmp_path / "users.yaml"
    save(users, {"alice": verifiers("old")})
    config = configuration(broker.endpoint)
    sasl = {"mechanisms": ["PLAIN"], "credentials": str(users)}
    asking = having(config, listeners={"clients": listener(port_of(config), sasl=sasl)})
    async with serving(asking) as gateway:
        save(users, {"alice": verifiers("new")})
        with capture_logs() as logs:
            await gateway.apply(asking)
    assert {"event": "credentials reloaded", "file": str(users), "log_level": "info"} in logs


async def test_nothing_is_changed_once_the_proxy_is_about_to_end(broker: Broker) -> None:
    config = having(configuration(broker.endpoint), use(1))
    async with serving(config) as gateway, beating(config) as client:
        broker.mute = {"Heartbeat"}
        await client.send(request_frame(HEARTBEAT_REQUEST, 4, 1, None))
        await broker.heard.wait()
        before = gateway.snapshot
        gateway.stop()
        with pytest.raises(StartError, match="about to end"):
            await gateway.apply(having(config, use(2)))
        assert gateway.snapshot is before
        broker.speak.set()
        assert (await client.answer(HeartbeatResponse)).throttle_time_ms == 1
    assert not Marking.running


async def test_a_plugin_that_hangs_at_its_start_in_a_change_does_not_keep_the_proxy_from_ending(
    broker: Broker, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.net.hosted.LAST_WAIT", 1.0)
    config = having(configuration(broker.endpoint), use(1))
    changed = having(config, use(2), PluginUse("hanging", Hanging, Hanging.Options()))
    refused: list[StartError] = []

    async def change(gateway: Gateway) -> None:
        try:
            await gateway.apply(changed)
        except StartError as error:
            refused.append(error)

    async with serving(config) as gateway:
        nursery.start_soon(change, gateway)
        await trio.to_thread.run_sync(Hanging.begins.wait)
    assert not Hanging.let_go.is_set()
    assert not Marking.running
    Hanging.let_go.set()
    await until(lambda: refused)
    assert str(refused[0]) == "the proxy is about to end"


async def test_changes_before_the_proxy_serves_are_in_force_when_it_does(broker: Broker, nursery: trio.Nursery) -> None:
    config = configuration(broker.endpoint)
    gateway = Gateway(having(config, use(1)))
    nursery.start_soon(gateway.run, lambda report: None)
    await gateway.apply(having(config, use(2)))
    await until(lambda: gateway.ready)
    async with connected(LOOPBACK, port_of(config)) as client:
        assert await mark(client) == 2


async def test_who_is_on_the_way_to_a_broker_when_the_listener_goes_does_not_arrive(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    both = having(config, listeners={**_plain(config.listeners), "second": listener(free_block(8, LOOPBACK))})
    async with serving(both) as gateway:
        port = both.listeners["second"].bind.port + 4  # of a broker that is not there, and may be told of in a moment
        next(iter(gateway._clusters)).exposure.listeners[1].open(3)
        async with connected(LOOPBACK, port) as client:
            await until(lambda: gateway.counters.open == 1)
            await gateway.apply(config)
            assert await client.is_closed()
            await until(lambda: gateway.counters.open == 0)


async def test_nothing_is_left_of_many_changes(broker: Broker) -> None:
    config = configuration(broker.endpoint)
    changed = having(
        config, use(2), listeners={**_plain(config.listeners), "second": listener(free_block(8, LOOPBACK))}
    )
    async with serving(config) as gateway, beating(config) as client:
        for _ in range(3):
            await gateway.apply(changed)
            assert await mark(client) == 2
            await gateway.apply(config)
            assert await mark(client) == 0
        await until(lambda: not Marking.running)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            await gateway.apply(changed)
            await gateway.apply(config)
        await until(lambda: not Marking.running and not gateway._changing._replaced.leases)
        assert len(os.listdir("/proc/self/fd")) == before
        assert await mark(client) == 0


async def test_a_plugin_whose_file_is_about_other_requests_reads_these_from_then_on(
    broker: Broker, tmp_path: Path
) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("faults: []")
    faults = PluginUse("faults", Faults, Faults.Options(rules=str(file)))
    config = having(configuration(broker.endpoint), faults)
    async with serving(config) as gateway, beating(config) as client:
        before = gateway.snapshot
        file.write_text("faults: [{match: {api: Heartbeat}, do: {error: REBALANCE_IN_PROGRESS}}]")
        await until(lambda: gateway.snapshot is not before and not gateway.snapshot.is_outdated)
        assert await client.beat() == ErrorCode.REBALANCE_IN_PROGRESS
        assert gateway.snapshot.clusters["main"].plugins == before.clusters["main"].plugins
        file.write_text("faults: []")
        await until(
            lambda: gateway.snapshot.listeners["clients"].filters.table[HEARTBEAT.key << 16 | 4].request is None
        )
        assert await client.beat() == 0


@pytest.mark.parametrize("by", ["its file", "a state"])
async def test_a_client_whose_requests_pass_is_looked_at_again_when_faults_change(
    broker: Broker, tmp_path: Path, by: str
) -> None:
    meant = {"name": "meant", "match": {"api": "Heartbeat"}, "do": {"error": "REBALANCE_IN_PROGRESS"}}
    others = meant | {"name": "others", "match": {"api": "Heartbeat", "client_id": "another"}}
    file = tmp_path / "faults.yaml"
    file.write_text(json.dumps({"faults": [others]}))
    config = having(configuration(broker.endpoint), PluginUse("faults", Faults, Faults.Options(rules=str(file))))
    async with serving(config) as gateway, beating(config) as client:
        assert [await client.beat() for _ in range(3)] == [0, 0, 0]
        if by == "a state":
            await gateway.states.change("faults", {"seed": None, "generation": 0, "faults": [meant]})
            assert await client.beat() == ErrorCode.REBALANCE_IN_PROGRESS
            return
        file.write_text(json.dumps({"faults": [others, meant]}))
        with trio.fail_after(PATIENCE):
            while await client.beat() == 0:
                await trio.lowlevel.checkpoint()


async def test_what_a_fault_holds_goes_on_when_another_plugin_takes_its_place(broker: Broker, tmp_path: Path) -> None:
    uses = []
    for name in ("one", "other"):
        (tmp_path / name).write_text("faults: [{match: {api: Heartbeat}, when: {times: 1}, do: hold}]")
        uses.append(PluginUse("faults", Faults, Faults.Options(rules=str(tmp_path / name))))
    config = having(configuration(broker.endpoint), uses[0])
    async with serving(config) as gateway, connected(LOOPBACK, port_of(config)) as client:
        await client.send(request_frame(HEARTBEAT_REQUEST, 4, 1, None))
        (plugin,) = gateway.snapshot.clusters["main"].plugins
        await until(lambda: list(plugin.ledger))
        await gateway.apply(having(config, uses[1]))
        assert (await client.answer(HeartbeatResponse)).error_code == 0


async def test_what_is_prepared_waits_until_it_is_put_in_force_or_forgotten(broker: Broker) -> None:
    config = having(configuration(broker.endpoint), use(1))
    async with serving(config) as gateway:
        forgotten = await gateway.prepare(having(config, use(2)))
        prepared = await gateway.prepare(having(config, use(3)))
        await gateway.apply(having(config, use(1), limits={"idle": "5m"}))  # as when a file has changed
        assert sorted(Marking.running) == [1, 2, 3]
        gateway.forget(forgotten)
        await gateway.put(prepared)
        await until(lambda: Marking.running == [3])
        async with beating(config) as client:
            assert await mark(client) == 3


async def test_one_change_is_in_force_before_the_next_is_put_there(broker: Broker) -> None:
    config = having(configuration(broker.endpoint), use(1))
    second = free_block(8, LOOPBACK)
    async with serving(config) as gateway, trio.open_nursery() as nursery:
        listeners = {**_plain(config.listeners), "second": listener(second)}
        narrower = await gateway.prepare(having(config, use(3)))
        nursery.start_soon(gateway.put, await gateway.prepare(having(config, use(2), listeners=listeners)))
        await soon(lambda: "second" in gateway.snapshot.listeners)
        await gateway.put(narrower)
        await until(lambda: Marking.running == [3])
        assert gateway.snapshot is narrower
        assert is_free(LOOPBACK, second)


async def test_what_is_put_in_place_of_another_is_dropped_if_that_is_not_in_force_any_more(broker: Broker) -> None:
    config = having(configuration(broker.endpoint), use(1))
    async with serving(config) as gateway:
        before, again = gateway.snapshot, await gateway.prepare(having(config, use(2)))
        await gateway.put(await gateway.prepare(having(config, use(3))))
        await gateway._changing.put(again, instead_of=before)
        del before, again  # plugins run as long as a snapshot has them
        await until(lambda: Marking.running == [3])
        await gateway._changing.put(await gateway.prepare(config), instead_of=gateway.snapshot)
        await until(lambda: Marking.running == [1])


async def test_a_file_that_changes_while_a_configuration_comes_does_not_undo_it(
    broker: Broker, tmp_path: Path, nursery: trio.Nursery
) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("faults: []")
    faults = PluginUse("faults", Faults, Faults.Options(rules=str(file)))
    config = having(configuration(broker.endpoint), faults)
    other = having(config, faults, PluginUse("beginning", Beginning, Beginning.Options()))
    async with serving(config) as gateway:
        nursery.start_soon(gateway.apply, other)
        await trio.to_thread.run_sync(Beginning.begins.wait)
        file.write_text("faults: [{match: {api: Heartbeat}, do: {error: REBALANCE_IN_PROGRESS}}]")
        await until(lambda: gateway._applying.lock.statistics().tasks_waiting)
        Beginning.may_begin.set()
        await until(lambda: not gateway._applying.lock.locked() and not gateway.snapshot.is_outdated)
        assert gateway.config is other
        async with beating(config) as client:
            assert await client.beat() == ErrorCode.REBALANCE_IN_PROGRESS


async def test_a_file_that_changes_while_a_configuration_is_put_there_does_not_undo_it(
    broker: Broker, tmp_path: Path
) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("faults: []")
    faults = PluginUse("faults", Faults, Faults.Options(rules=str(file)))
    config = having(configuration(broker.endpoint), faults)
    async with serving(config) as gateway:
        prepared = await gateway.prepare(having(config, faults, use(2)))  # as a worker does when it is told to
        file.write_text("faults: [{match: {api: Heartbeat}, do: {error: REBALANCE_IN_PROGRESS}}]")
        await soon(gateway._applying.lock.locked)
        await gateway.put(prepared)
        await until(lambda: not gateway._applying.lock.locked() and not gateway.snapshot.is_outdated)
        assert gateway.config is prepared.config
        async with beating(config) as client:
            assert await client.beat() == ErrorCode.REBALANCE_IN_PROGRESS
