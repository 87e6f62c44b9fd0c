"""SIGHUP: the configuration file is read again, and put in force or refused."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from proxy.config import Config, Problem, load
from proxy.config.load import examine
from proxy.config.plugins import PluginUse
from proxy.net import reloading
from proxy.net.complaints import Complaints
from proxy.net.gateway import Gateway
from proxy.net.reloading import Also, Examine, obey, reload
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters
from tests.proxy.net.exhausted import exhausted
from tests.proxy.net.scripted import LOOPBACK, PATIENCE, Broker, connected, serving
from tests.proxy.net.test_changing import Hanging, having
from tests.real.ports import free_block


class Setup:
    """A configuration file, and a gateway that runs by it."""

    def __init__(self, folder: Path, broker: Broker) -> None:
        self.file = folder / "gateway.yaml"
        self.port = free_block(8, LOOPBACK)
        self._broker = broker
        self.write()
        self.logs: list[dict[str, Any]] = []

    def write(self, more: str = "", port: int | None = None) -> None:
        fresh = self.file.with_suffix(".new")
        fresh.write_text(
            f"clusters: {{main: {{bootstrap: [{self._broker.endpoint}]}}}}\n"
            f"listeners:\n  clients: {{cluster: main, bind: {LOOPBACK}:{port or self.port}}}\n{more}\n"
        )
        os.replace(fresh, self.file)

    async def reload(self, gateway: Gateway) -> list[dict[str, Any]]:
        """Gives what the log says."""
        with capture_logs() as logs:
            await reload(partial(examine, self.file), gateway)
        return [dict(line) for line in logs if str(line["event"]).startswith("configuration ")]


@pytest.fixture
def setup(tmp_path: Path, broker: Broker) -> Setup:
    return Setup(tmp_path, broker)


REFUSED = {"event": "configuration refused", "log_level": "error"}


def not_reloaded(problems: int) -> dict[str, Any]:
    still = "the one that was read before"
    return {"event": "configuration not reloaded", "log_level": "error", "problems": problems, "still": still}


async def test_what_changed_is_in_force_and_said_in_one_line(setup: Setup) -> None:
    async with serving(load(setup.file)) as gateway, connected(LOOPBACK, setup.port) as client:
        assert await client.beat() == 0
        second = free_block(8, LOOPBACK)
        setup.write(f"  second: {{cluster: main, bind: {LOOPBACK}:{second}}}\nlimits: {{idle: 5m}}")
        (line,) = await setup.reload(gateway)
        changed = "listeners.second added, limits.idle"
        assert line == {"event": "configuration reloaded", "log_level": "info", "changed": changed}
        assert await client.beat() == 0
        with trio.fail_after(PATIENCE):
            while not gateway.ready:
                await trio.sleep(0.01)
        async with connected(LOOPBACK, second) as other:
            assert await other.beat() == 0
        (line,) = await setup.reload(gateway)
        assert line["changed"] == "nothing"


async def test_variables_are_read_anew(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDLE", "5m")
    setup.write("limits: {idle: '${IDLE}'}")
    async with serving(load(setup.file)) as gateway:
        monkeypatch.setenv("IDLE", "6m")
        await setup.reload(gateway)
        assert gateway.config.limits.idle == 360


async def test_all_that_is_wrong_is_said_and_nothing_changes(setup: Setup) -> None:
    async with serving(load(setup.file)) as gateway:
        before = gateway.snapshot
        setup.write("limits: {idle: 5, memory: much}")
        first, second, last = await setup.reload(gateway)
        assert first["what"] == f'{setup.file}:4:16: 5 has no unit; write e.g. "5s"; units are ms, s, m, h, d'
        assert second["what"].startswith(f"{setup.file}:4:27: ")
        assert last == not_reloaded(2)
        setup.file.unlink()
        line, last = await setup.reload(gateway)
        assert line["what"] == f"{setup.file}: there is no such file; check the path"
        assert last == not_reloaded(1)
        assert gateway.snapshot is before


async def test_what_cannot_change_while_it_runs_says_to_restart(setup: Setup) -> None:
    async with serving(load(setup.file)) as gateway:
        before = gateway.snapshot
        setup.write(f"workers: 2\nadmin: {{bind: {LOOPBACK}:1}}\nlimits: {{idle: 5m}}")
        workers, admin, last = await setup.reload(gateway)
        assert workers["what"] == (
            f'{setup.file}:4:10: workers cannot change while the proxy runs; write "workers: 1" as before,'
            " or restart the proxy"
        )
        assert admin["what"].startswith(f"{setup.file}:5:8: admin cannot change while the proxy runs")
        assert last == not_reloaded(2)
        assert gateway.snapshot is before


async def test_a_port_that_another_has_is_a_problem_with_its_place(setup: Setup) -> None:
    async with serving(load(setup.file)) as gateway:
        before = gateway.snapshot
        with socket.create_server((LOOPBACK, 0)) as taken:
            setup.write(port=taken.getsockname()[1])
            line, last = await setup.reload(gateway)
        assert line["what"].startswith(f"{setup.file}:3:34: {LOOPBACK}:")
        assert line["what"].endswith("has the port; stop it, or change listeners.clients.bind")
        assert last == not_reloaded(1)
        assert gateway.snapshot is before
        setup.write(port=setup.port + 2)
        (line,) = await setup.reload(gateway)
        assert line["changed"] == "listeners.clients.bind", "our own broker had that port"


async def test_a_listener_may_keep_its_port_and_change_its_host(setup: Setup) -> None:
    async with serving(load(setup.file)) as gateway:
        for host in ("0.0.0.0", "localhost", LOOPBACK):
            text = setup.file.read_text().splitlines()
            text[2] = f"  clients: {{cluster: main, bind: '{host}:{setup.port}', advertise: {LOOPBACK}}}"
            setup.file.write_text("\n".join(text))
            (line,) = await setup.reload(gateway)
            assert line["changed"].startswith("listeners.clients.bind")
            with trio.fail_after(PATIENCE):
                while not gateway.ready:
                    await trio.sleep(0.01)
            async with connected(LOOPBACK, setup.port) as client:
                assert await client.beat() == 0
        setup.file.write_text(setup.file.read_text().replace(f"{LOOPBACK}:{setup.port}", f"none.invalid:{setup.port}"))
        line, _ = await setup.reload(gateway)
        assert line["what"].endswith("no such host; change listeners.clients.bind")


async def test_the_number_of_a_brokers_port_says_nothing_of_another_host(setup: Setup) -> None:
    async with serving(load(setup.file)) as gateway:
        with trio.fail_after(PATIENCE):
            while not gateway.ready:
                await trio.sleep(0.01)
        (port,) = (await gateway.reports())[0].listening["clients"].values()
        with socket.create_server(("127.0.0.2", port)):
            setup.write(f"  second: {{cluster: main, bind: 127.0.0.2:{port}}}")
            line, _ = await setup.reload(gateway)
        assert line["what"].endswith("has the port; stop it, or change listeners.second.bind")


async def test_what_a_worker_cannot_take_is_refused(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(load(setup.file)) as gateway:
        gateway.stop()
        line, last = await setup.reload(gateway)
        assert line == REFUSED | {"what": "the proxy is about to end"}
        assert last == not_reloaded(1)


def hang_up() -> None:
    """The signal, for this thread: others here do not know it."""
    signal.pthread_kill(threading.get_ident(), signal.SIGHUP)


@asynccontextmanager
async def obeying(setup: Setup, gateway: Gateway, examined: Examine | None = None) -> AsyncIterator[None]:
    mask, handler = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP}), signal.getsignal(signal.SIGHUP)
    try:
        async with trio.open_nursery() as nursery:
            tasks = Tasks(NetworkCounters(), Complaints())
            hang_up()  # before anybody could obey it
            await nursery.start(obey, examined or partial(examine, setup.file), gateway, tasks)
            yield
            nursery.cancel_scope.cancel()
    finally:
        signal.signal(signal.SIGHUP, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


async def until(logs: Any, count: int) -> None:
    with trio.fail_after(PATIENCE):
        while [line["event"] for line in logs].count("configuration reloaded") < count:
            await trio.sleep(0.01)


async def test_a_signal_that_comes_while_it_starts_is_obeyed_when_it_can_be(setup: Setup) -> None:
    gateway = Gateway(load(setup.file))
    setup.write("limits: {idle: 5m}")
    with capture_logs() as logs:
        async with obeying(setup, gateway), trio.open_nursery() as nursery:
            await trio.testing.wait_all_tasks_blocked(0.05)
            nursery.start_soon(gateway.run, lambda report: None)
            await until(logs, 1)
            assert gateway.config.limits.idle == 300
            gateway.stop()


async def test_signals_are_obeyed_one_after_the_other(setup: Setup) -> None:
    with capture_logs() as logs:
        async with serving(load(setup.file)) as gateway, obeying(setup, gateway):
            await until(logs, 1)
            for number in range(1, 20):
                setup.write(f"limits: {{idle: {number}m}}")
                hang_up()
                await trio.sleep(0)
            with trio.fail_after(PATIENCE):
                while gateway.config.limits.idle != 19 * 60:
                    await trio.sleep(0.01)
    assert not [line for line in logs if line["log_level"] == "error"]


async def test_a_reload_for_which_there_are_no_descriptors_is_told_once_and_made_when_there_are(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reloading, "FIRST_RETRY", 0.01)
    tried = 0

    def examined(also: Also) -> tuple[Config | None, list[Problem]]:
        nonlocal tried
        tried += 1
        return examine(setup.file, also)

    with capture_logs() as logs:
        async with serving(load(setup.file)) as gateway, obeying(setup, gateway, examined):
            await until(logs, 1)
            setup.write("limits: {idle: 5m}")
            with exhausted():
                hang_up()
                with trio.fail_after(PATIENCE):
                    while tried < 4:
                        await trio.sleep(0.01)
                assert gateway.config.limits.idle != 300
            await until(logs, 2)
            assert gateway.config.limits.idle == 300
    (line,) = (line for line in logs if line["log_level"] == "error")
    assert line["event"] == "configuration not reloaded"
    assert line["why"] == "too many open files; raise the limit of open files (ulimit -n)"


async def test_a_plugin_that_hangs_at_its_start_is_named_and_holds_up_no_later_reload(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.net.running_plugins.START_WITHIN", 0.1)
    monkeypatch.setattr(Hanging, "let_go", threading.Event())
    running = load(setup.file)
    hanging = having(running, PluginUse("hanging", Hanging, Hanging.Options()))
    async with serving(running) as gateway:
        with trio.fail_after(PATIENCE), capture_logs() as logs:
            await reload(lambda also: (hanging, []), gateway)
        assert gateway.config is running
        setup.write("limits: {idle: 5m}")
        assert [line["event"] for line in await setup.reload(gateway)] == ["configuration reloaded"]
        Hanging.let_go.set()
    assert [line["event"] for line in logs] == ["configuration refused", "configuration not reloaded"]
    assert logs[0]["what"] == (
        'plugin "hanging" has not started in time: all plugins of another configuration together have 0.1 s to start; '
        "leave it out, or mend it; or start the proxy anew with this configuration: then it is waited for"
    )
