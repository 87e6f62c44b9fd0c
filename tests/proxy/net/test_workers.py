from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs

from proxy.net import workers as module
from proxy.net.channel import Settings
from proxy.net.process import Ending, StartError
from proxy.net.workers import Workers
from proxy.telemetry.report import Report
from tests.proxy.net.scripted import LOOPBACK, Broker, configuration, connected, port_of
from tests.real.ports import is_free

LONG = 30.0  # seconds: processes start here


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


def two(broker: Broker) -> Workers:
    return Workers(Settings(configuration(broker.endpoint, workers=2), 0, "json", False))


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
    monkeypatch.setattr(module, "GRACE", 0.1)
    monkeypatch.setattr(module, "ANSWER_WITHIN", 0.1)
    config = configuration(broker.endpoint, workers=2, limits={"drain": "100ms"})
    workers = Workers(Settings(config, 0, "json", False))
    with capture_logs() as logs:
        async with running(workers):
            os.kill((await pids(workers))[1], signal.SIGSTOP)
            reports = await workers.reports()
            assert [it.ready for it in reports.values()] == [True, False]
    assert 1 in [line["worker"] for line in logs if line["event"] == "worker does not end"]
    assert workers.ending == Ending("workers", 2, 1)
