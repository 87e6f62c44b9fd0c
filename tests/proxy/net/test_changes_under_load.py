"""Many configuration changes under load: nothing is dropped, lost or doubled."""

from __future__ import annotations

import gc
import json
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from plugins.acl import Acl
from proxy.config import Config, PluginUse
from proxy.core.context import Connection, Context
from proxy.core.filter_chain import FilterChain, Lease
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.net.conversation import Conversation
from proxy.net.gateway import Gateway
from proxy.net.hosted import HostedPlugin
from proxy.net.listeners import Listener
from proxy.net.served import Served
from proxy.net.snapshot import GatewaySnapshot
from proxy.protocol.api import FETCH, HEARTBEAT, PRODUCE
from proxy.protocol.messages.heartbeat import HeartbeatResponse
from tests.proxy.net.scripted import HEARTBEAT_REQUEST, LOOPBACK, PATIENCE, Broker, Client, connected, serving
from tests.proxy.net.test_supervisor import Proxy, package
from tests.proxy.net.under_load import CLIENTS, Answering, Load, Marking
from tests.real.ports import free_block

RELOADED = "configuration reloaded"
COUNTED = (Acl, Connection, Context, Conversation, FilterChain, Filters, GatewaySnapshot, HostedPlugin, Lease, Link)
COUNTED += (Listener, Served)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two files of rules, by which all may do what they ask."""
    for name in ("one", "other"):
        topics = f"[orders, {name}]"
        (tmp_path / f"{name}.yaml").write_text(
            f"acls:\n- {{allow: 'User:*', to: [Read, Write], topics: {topics}}}\n"
            "- {allow: 'User:*', to: Read, groups: '*'}\n"
        )
    return tmp_path


def configurations(folder: Path, broker: Broker) -> list[Config]:
    """One after the other, and then again."""
    clients, second = (f"{LOOPBACK}:{free_block(8, LOOPBACK)}" for _ in range(2))

    def of(*plugins: PluginUse, more: bool = False, **limits: Any) -> Config:
        binds = {"clients": clients} | ({"second": second} if more else {})
        config = Config.model_validate(
            {
                "clusters": {"main": {"bootstrap": [str(broker.endpoint)]}},
                "listeners": {name: {"cluster": "main", "bind": bind} for name, bind in binds.items()},
                "limits": limits,
            }
        )
        return config.model_copy(update={"plugins": plugins})

    def acl(name: str) -> PluginUse:
        return PluginUse("acl", Acl, Acl.Options(rules=str(folder / f"{name}.yaml")))

    def marking(mark: int) -> PluginUse:
        return PluginUse("marking", Marking, Marking.Options(mark=mark))

    return [
        of(),
        of(marking(1), in_flight=2),
        of(acl("one"), marking(1), more=True),
        of(acl("other"), in_flight=500),
        of(marking(2), acl("other"), idle="5m"),
        of(marking(2), more=True),
        of(marking(3)),
        of(acl("one"), frame="1MiB"),
    ]


def living() -> dict[str, int]:
    gc.unfreeze()  # what was there when the gateway began to serve counts too
    gc.collect()
    return dict(Counter(type(each).__name__ for each in gc.get_objects() if isinstance(each, COUNTED)))


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def settled(gateway: Gateway) -> dict[str, int]:
    """What is there when all that was replaced is gone."""
    changing = gateway._changing
    with trio.fail_after(60):
        while len(changing._plugins._running) > len(gateway.snapshot.hosted) or changing._replaced.leases:
            await trio.sleep(0.01)
    return living()


@pytest.fixture
async def answering(nursery: trio.Nursery) -> Answering:
    broker = Answering()
    await nursery.start(broker.serve)
    return broker


@pytest.mark.parametrize("changes", [250, pytest.param(1000, marks=pytest.mark.long)])
async def test_many_configurations_under_load(answering: Answering, folder: Path, changes: int) -> None:
    all_of_them = configurations(folder, answering)
    load = Load(all_of_them[0].listeners["clients"].bind.port)
    with capture_logs() as logs:
        async with serving(all_of_them[0]) as gateway:
            for config in (*all_of_them, all_of_them[0]):  # what is loaded and compiled once is not counted
                await gateway.apply(config)
            before, descriptors = await settled(gateway), len(os.listdir("/proc/self/fd"))
            async with load.going_on():
                await trio.sleep(0.1)
                memory = 0
                for number in range(changes):
                    await gateway.apply(all_of_them[number % len(all_of_them)])
                    memory = memory or (resident() if number == changes // 4 else 0)
                await gateway.apply(all_of_them[0])
                grown = resident() - memory
                assert gateway.counters.accepted == gateway.counters.open == 3 * CLIENTS
            with trio.fail_after(60):
                while gateway.counters.open:
                    await trio.sleep(0.01)
            assert await settled(gateway) == before
            assert len(os.listdir("/proc/self/fd")) == descriptors
            counted = gateway.report().reading
    for api in (FETCH, HEARTBEAT, PRODUCE):
        assert counted[f"requests_{api.name}"] == sum(n for what, n in load.got.items() if what.startswith(api.name))
    assert {f"Heartbeat of {mark}" for mark in range(4)} <= load.got.keys()
    wrong = [line["event"] for line in logs if line["log_level"] in ("warning", "error")]
    assert not {*wrong} - {"event loop held up"}  # as by a machine that is busy
    print(f"{changes} changes; {dict(load.got)}; {grown / (1 << 20):.1f} MiB more in the last three quarters")


def changed(port: int, number: int) -> str:
    """A configuration unlike the one before it: its mark shows, and other options change with it."""
    second = f"  second: {{cluster: main, bind: {LOOPBACK}:{port}}}\n" if number % 4 == 2 else ""
    acl = ("", ", acl: {rules: one.yaml}", ", acl: {rules: other.yaml}")[number % 3]
    return f"{second}limits: {{in_flight: {2 + number % 5}}}\nplugins: [marking: {{mark: {number % 1000}}}{acl}]"


async def mark_in_force(client: Client) -> int:
    """The mark by which a request of this client is answered."""
    return (await client.ask(HEARTBEAT_REQUEST, HeartbeatResponse)).throttle_time_ms // 1000


LONG_RUNS = [pytest.param(1000, workers, marks=pytest.mark.long) for workers in (1, 2)]


@pytest.mark.parametrize(("changes", "workers"), [(30, 1), *LONG_RUNS])
async def test_many_signals_under_load(answering: Answering, folder: Path, changes: int, workers: int) -> None:
    """As users do it: the command, a changed file, SIGHUP. Each change shows and is logged before the next is made."""
    package(folder, "marking", "from tests.proxy.net.under_load import Marking as Marking\n")
    port, second = free_block(8, LOOPBACK), free_block(8, LOOPBACK)
    proxy = Proxy(folder, port, str(answering.endpoint), f"workers: {workers}", modules=folder)
    load = Load(port)
    try:
        await trio.to_thread.run_sync(proxy.line, "ready")
        async with connected(LOOPBACK, port) as client, load.going_on():
            for number in range(1, changes + 1):
                proxy.write(f"{changed(second, number)}\nworkers: {workers}")
                os.kill(proxy.pid, signal.SIGHUP)
                with trio.fail_after(PATIENCE):
                    while await mark_in_force(client) != number % 1000 or len(proxy.lines(RELOADED)) < number:
                        pass
        assert await trio.to_thread.run_sync(proxy.stop) == 0
    finally:
        proxy.kill()
    logged = [json.loads(line) for line in proxy.output().splitlines()]
    assert Counter(line["event"] for line in logged)[RELOADED] == changes
    assert not [line for line in logged if line["level"] != "info"]
    assert answering.answered["Produce"] == load.got["Produce"]
    print(f"{changes} signals under {load.got.total()} requests")
