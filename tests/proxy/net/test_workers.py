from __future__ import annotations

import errno
import os
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from chaos.ports import is_free
from proxy.config import Config
from proxy.net import workers as module
from proxy.net.channel import Settings
from proxy.net.complaints import Complaints
from proxy.net.process import DrainResult, StartError
from proxy.net.tasks import Tasks
from proxy.net.worker_process import how_it_ended
from proxy.net.workers import Workers
from proxy.telemetry.counters import NetworkCounters
from proxy.telemetry.report import Report
from tests.proxy.net.scripted import LOOPBACK, Broker, configuration, connected, port_of
from tests.real.ports import free_block

LONG = 60.0  # seconds: processes start here


@asynccontextmanager
async def running(workers: Workers) -> AsyncIterator[Report]:
    reports: list[Report] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(workers.run, reports.append)
        with trio.fail_after(LONG):
            while not reports:
                await trio.sleep(0)
        yield reports[0]
        workers.stop()


def tasks() -> Tasks:
    return Tasks(NetworkCounters(), Complaints())


def two(broker: Broker) -> Workers:
    return Workers(Settings(configuration(broker.endpoint, workers=2), 0, "json", False), tasks())


async def pids(workers: Workers) -> dict[int, int]:
    return {worker: child.process.pid for worker, child in workers._children.items()}


async def test_workers_serve_the_same_ports_and_one_that_dies_is_replaced(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    workers = two(broker)
    config = workers._settings.config
    with capture_logs() as logs:
        async with running(workers) as report:
            assert report.listening == {"clients": {"1": port_of(config, 1)}}
            before = await pids(workers)
            assert len(set(before.values())) == 2
            os.kill(before[0], signal.SIGKILL)
            with trio.fail_after(LONG):
                while (await pids(workers)).get(0) in (before[0], None) or not (await workers.reports())[0].ready:
                    await trio.sleep(0)
            assert (await pids(workers))[1] == before[1]
            async with connected(LOOPBACK, port_of(config, 1)) as client:
                assert await client.beat() == 0
            reports = await workers.reports()
            assert reports.keys() == {0, 1}
            assert sum(it.reading.get("requests_Heartbeat", 0) for it in reports.values()) == 1
    (line,) = [line for line in logs if line["event"] == "worker died"]
    assert line["why"] == "was ended by SIGKILL"
    assert is_free(LOOPBACK, port_of(config))


def test_a_worker_may_be_ended_by_a_signal_without_a_name() -> None:
    assert how_it_ended(-signal.SIGRTMIN - 1) == f"was ended by signal {signal.SIGRTMIN + 1}"


async def test_workers_that_replace_others_have_the_same_rules_in_force_though_the_file_is_broken(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    rules = tmp_path / "acl.yaml"
    rules.write_text("acls: [{allow: User:ANONYMOUS, to: Read, groups: g}]\n")
    config = configuration(broker.endpoint, workers=2, plugins=[{"acl": {"rules": str(rules)}}])
    workers = Workers(Settings(config, 0, "json", False), tasks())
    async with running(workers):
        with trio.fail_after(LONG):
            while str(rules) not in workers._kept.contents:
                await trio.sleep(0.01)
        rules.write_text("acls: [")
        before = await pids(workers)
        for pid in before.values():
            os.kill(pid, signal.SIGKILL)
        with trio.fail_after(LONG):
            while set(before.values()) & set((await pids(workers)).values()) or not await all_ready(workers):
                await trio.sleep(0.01)
        async with connected(LOOPBACK, port_of(config, 1)) as client:
            assert await client.beat() == 0
        said = ""
        with trio.fail_after(LONG):
            while "rules not reloaded" not in said:
                await trio.sleep(0.01)
                said += capfd.readouterr().err
    assert "cannot start" not in said + capfd.readouterr().err


async def all_ready(workers: Workers) -> bool:
    reports = await workers.reports()
    return len(reports) == 2 and all(it.ready for it in reports.values())


async def test_workers_that_die_before_they_are_ready_are_given_up(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 7\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    with trio.fail_after(LONG), pytest.raises(ExceptionGroup) as raised:
        await two(broker).run(lambda report: None)
    assert raised.group_contains(
        StartError, match="died 5 times before it was ready; the last one exited with code 7", depth=None
    )


async def test_a_worker_that_hangs_is_not_ready_and_does_not_keep_the_proxy_from_ending(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE", 3.0)  # the other one ends in less on a slow machine too
    monkeypatch.setattr("proxy.net.child.ANSWER_WITHIN", 0.1)
    config = configuration(broker.endpoint, workers=2, limits={"drain": "100ms"})
    workers = Workers(Settings(config, 0, "json", False), tasks())
    with capture_logs() as logs:
        async with running(workers):
            os.kill((await pids(workers))[1], signal.SIGSTOP)
            reports = await workers.reports()
            assert [it.ready for it in reports.values()] == [True, False]
    assert 1 in [line["worker"] for line in logs if line["event"] == "worker does not end"]
    assert workers.ending == DrainResult("workers", 2, 1)


async def test_workers_that_are_told_to_end_before_they_serve_are_not_cut(broker: Broker) -> None:
    workers = two(broker)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(workers.run, lambda report: None)
        with trio.fail_after(LONG):
            while len(workers._children) < 2:
                await trio.sleep(0)
        workers.stop()
    assert workers.ending == DrainResult("workers", 2, 0)


async def test_a_worker_that_cannot_be_started_for_a_while_is_one_that_died(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    few = OSError(errno.EMFILE, "Too many open files")
    real, failures = socket.socketpair, [few, ExceptionGroup("of a nursery", [few])]

    def socketpair() -> tuple[socket.socket, socket.socket]:
        if failures:
            raise failures.pop()
        return real()

    monkeypatch.setattr(socket, "socketpair", socketpair)
    with capture_logs() as logs:
        async with running(two(broker)) as report:
            assert report.ready
    said = [(line["event"], line["why"], line["replaced_in"]) for line in logs if line["log_level"] == "error"]
    few_files = "could not be started: too many open files; raise the limit of open files (ulimit -n)"
    assert said == [("worker died", few_files, "0.01s")] * 2


def more(workers: Workers, **options: Any) -> Config:
    """What they have, with one more listener."""
    config = workers.config
    binds = {name: str(listener.bind) for name, listener in config.listeners.items()}
    binds["second"] = f"{LOOPBACK}:{free_block(8, LOOPBACK)}"
    return Config.model_validate(
        {
            "clusters": {"main": {"bootstrap": [str(config.clusters["main"].bootstrap[0])]}},
            "listeners": {name: {"cluster": "main", "bind": bind} for name, bind in binds.items()},
            "workers": 2,
            **options,
        }
    )


async def all_listen(workers: Workers) -> None:
    """Wait until all of them listen where they should, and have no other limits than they should."""
    wanted = workers.config.listeners.keys()
    with trio.fail_after(LONG):
        while True:
            reports = await workers.reports()
            if len(reports) == 2 and all(it.ready and it.listening.keys() == wanted for it in reports.values()):
                return
            await trio.sleep(0.01)


async def test_another_configuration_is_in_force_in_all_of_them_or_in_none(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    workers = two(broker)
    told: list[Report] = []
    before = workers.config
    async with trio.open_nursery() as nursery:
        nursery.start_soon(workers.run, told.append)
        await all_listen(workers)
        processes = await pids(workers)
        async with connected(LOOPBACK, port_of(before)) as client:
            assert await client.beat() == 0
            bad = more(workers, plugins=[{"acl": {"rules": str(tmp_path / "none.yaml")}}])
            with pytest.raises(StartError) as raised:
                await workers.apply(bad)
            assert raised.value.reasons == (f"{tmp_path}/none.yaml: there is no such file; check the path",)
            assert workers.config is before
            await workers.apply(more(workers))
            await all_listen(workers)
            with trio.fail_after(LONG):
                while told[-1].listening.keys() != {"clients", "second"}:
                    await trio.sleep(0.01)
            async with connected(LOOPBACK, workers.config.listeners["second"].bind.port) as other:
                assert await other.beat() == 0
            await workers.apply(before)
            await all_listen(workers)
            assert await client.beat() == 0
        assert await pids(workers) == processes
        os.kill(processes[0], signal.SIGKILL)  # one that dies meanwhile comes back with the new one
        await workers.apply(more(workers))
        await all_listen(workers)
        workers.stop()


async def test_one_that_replaces_another_may_open_as_many_files_as_that_one_could(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    workers = two(broker)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1300, hard))
    try:
        async with running(workers):
            await workers.apply(more(workers, limits={"connections": 200}))
            before = await pids(workers)
            os.kill(before[0], signal.SIGKILL)
            with trio.fail_after(LONG):
                while (await pids(workers)).get(0) in (before[0], None):
                    await trio.sleep(0.01)
            limits = {resource.prlimit(pid, resource.RLIMIT_NOFILE) for pid in (await pids(workers)).values()}
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert limits == {(1400, hard)}


async def test_a_configuration_for_which_one_has_no_descriptors_may_be_tried_again(
    broker: Broker, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first, second = (tmp_path / name for name in ("first.yaml", "second.yaml"))
    for rules in (first, second):
        rules.write_text("unmatched: allow\nacls: []\n")
    config = configuration(broker.endpoint, workers=2, plugins=[{"acl": {"rules": str(first)}}])
    workers = Workers(Settings(config, 0, "json", False), tasks())
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with running(workers):
        other, processes = more(workers, plugins=[{"acl": {"rules": str(second)}}]), await pids(workers)
        before = resource.prlimit(processes[1], resource.RLIMIT_NOFILE, (0, most))
        with pytest.raises(OSError, match="Too many open files"):
            await workers.apply(other)
        assert workers.config is config
        resource.prlimit(processes[1], resource.RLIMIT_NOFILE, before)
        await workers.apply(other)
        await all_listen(workers)
        assert await pids(workers) == processes
    assert "failed" not in capfd.readouterr().err


async def test_one_that_hangs_is_replaced_by_one_with_the_new_configuration(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    workers = two(broker)
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(workers.run, lambda report: None)
            await trio.testing.wait_all_tasks_blocked()
            await workers.apply(more(workers))  # before they are ready
            await all_listen(workers)
            before = await pids(workers)
            os.kill(before[1], signal.SIGSTOP)
            monkeypatch.setattr("proxy.net.child.CHANGE_WITHIN", 4.0)
            await workers.apply(more(workers, limits={"idle": "5m"}))
            await all_listen(workers)
            after = await pids(workers)
            workers.stop()
            with pytest.raises(StartError, match="about to end"):
                await workers.apply(more(workers))
    assert after[1] != before[1]
    assert 1 in [line["worker"] for line in logs if line["event"] == "worker replaced"]
