from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import trio
import trio.testing

from proxy.telemetry.plugin_counters import MOST, PluginCounters
from proxy.telemetry.report import Report, Reports
from tests.proxy.admin.served import asked

READY = Report(True, {"clients": {"1": 9194}}, {"main": {"1": "kafka-1:9092"}}, {"accepted": 3, "idle": 1})


class Source:
    """What the workers say, as the test wants it."""

    def __init__(self) -> None:
        self.reports: Reports = {0: READY, 1: READY}
        self.asked = 0
        self.may_answer = trio.Event()
        self.may_answer.set()

    async def __call__(self) -> Reports:
        self.asked += 1
        await self.may_answer.wait()
        return self.reports


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
async def client(source: Source) -> AsyncIterator[httpx.AsyncClient]:
    async with asked(source=source, workers=2) as client:
        yield client


async def test_healthy_is_when_all_workers_are_ready(client: httpx.AsyncClient) -> None:
    answer = await client.get("/health")
    assert answer.status_code == 200
    body = answer.json()
    assert body["status"] == "ready"
    assert body["workers"]["1"] == {
        "ready": True,
        "listening": {"clients": {"1": 9194}},
        "clusters": {"main": {"1": "kafka-1:9092"}},
    }


@pytest.mark.parametrize(
    "reports", [{}, {0: READY}, {0: READY, 1: Report(False)}], ids=["none", "one is missing", "one is not ready"]
)
async def test_one_worker_that_is_not_ready_makes_it_unhealthy(
    client: httpx.AsyncClient, source: Source, reports: Reports
) -> None:
    source.reports = reports
    answer = await client.get("/health")
    assert answer.status_code == 503
    assert answer.json()["status"] == "not ready"


async def test_metrics_are_prometheus_text_by_worker(client: httpx.AsyncClient) -> None:
    answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    lines = [line for line in answer.text.splitlines() if line.startswith("doorkeeper_")]
    accepted = [line for line in lines if line.startswith("doorkeeper_connections_total{")]
    assert [line.endswith(" 3.0") for line in accepted] == [True, True]
    assert 'worker="1"' in accepted[1]
    assert any('limit="idle"' in line and line.endswith(" 1.0") for line in lines)


async def test_many_who_ask_for_metrics_at_one_moment_make_two_scrapes_at_most(
    client: httpx.AsyncClient, source: Source
) -> None:
    source.may_answer = trio.Event()
    answers: list[httpx.Response] = []

    async def ask() -> None:
        answers.append(await client.get("/metrics"))

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked(0.05)
        source.reports = {0: Report(True, reading={"accepted": 77})}
        source.may_answer.set()
    assert source.asked <= 2  # the second is for those who asked after the first had begun
    assert len(answers) == 50
    assert all(answer.status_code == 200 and " 77.0\n" in answer.text for answer in answers)


async def test_many_who_ask_at_one_moment_wait_for_a_worker_that_hangs_twice_at_most(
    client: httpx.AsyncClient, source: Source
) -> None:
    source.may_answer = trio.Event()
    answers: list[httpx.Response] = []

    async def ask(path: str) -> None:
        answers.append(await client.get(path))

    async with trio.open_nursery() as nursery:
        for path in (*["/health"] * 40, "/metrics"):
            nursery.start_soon(ask, path)
        await trio.testing.wait_all_tasks_blocked(0.05)
        source.reports = {0: READY}
        source.may_answer.set()
    assert source.asked <= 2
    assert sorted(answer.status_code for answer in answers) == [200] + [503] * 40


async def test_what_the_rules_would_refuse_is_a_metric_by_api(client: httpx.AsyncClient, source: Source) -> None:
    counters = PluginCounters()
    for enforced, number in (("no", 7), ("yes", 2)):
        counters.of("acl", "acl")("refusals", "Refused.", api="Fetch", enforced=enforced).add(number)
    source.reports = {0: Report(True, reading={"requests_Fetch": 9}, plugins=counters.counted())}
    text = (await client.get("/metrics")).text
    refusals = [line for line in text.splitlines() if line.startswith("doorkeeper_acl_refusals_total{")]
    assert [line.split("}")[1] for line in refusals if 'api="Fetch",enforced="no"' in line] == [" 7.0"]
    assert [line.split("}")[1] for line in refusals if 'api="Fetch",enforced="yes"' in line] == [" 2.0"]
    assert len(refusals) == 2


async def test_each_of_many_counts_of_many_workers_keeps_its_worker(client: httpx.AsyncClient, source: Source) -> None:
    counters = PluginCounters()
    for number in range(MOST):
        counters.of("faults", "faults")("fired", "Fired.", fault=f"fault-{number}").add()
    source.reports = {worker: Report(True, plugins=counters.counted()) for worker in range(3)}
    lines = [
        line for line in (await client.get("/metrics")).text.splitlines() if "doorkeeper_faults_fired_total{" in line
    ]
    assert [sum(f'worker="{worker}"' in line for line in lines) for worker in range(3)] == [MOST] * 3
    assert not any("overflow" in line for line in lines)


async def test_there_is_nothing_else(client: httpx.AsyncClient) -> None:
    assert (await client.get("/")).status_code == 404
    assert (await client.post("/health")).status_code == 405
