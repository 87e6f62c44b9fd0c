"""The end of the audit topic's writer, run and stopped as in the proxy: no event is on the topic twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from plugins.audit import Audit
from proxy.config.plugins import PluginUse
from proxy.core.clock import Clock
from proxy.net import topic_writing
from proxy.net.cluster_access import ClusterAccess
from proxy.net.complaints import Complaints
from proxy.net.hosted import HostedPlugin
from proxy.net.plugin_host import PluginHost
from proxy.net.tasks import Tasks
from proxy.net.upstream import Upstream
from proxy.telemetry.counters import NetworkCounters
from tests.proxy.net.scripted import all_usable
from tests.proxy.net.topic_broker import TopicBroker


@pytest.fixture
async def broker(nursery) -> TopicBroker:  # type: ignore[no-untyped-def]  # pytest-trio has no types
    """A broker with the topic, that holds its answers to Produce back."""
    broker = TopicBroker("audit")
    broker.mute = {"Produce"}
    await nursery.start(broker.serve)
    return broker


def hosted(broker: TopicBroker, folder: Path) -> HostedPlugin:
    counters = NetworkCounters()
    host = PluginHost(0, Clock(), Tasks(counters, Complaints()))
    upstream = Upstream(ClusterAccess("main", 60.0), [broker.endpoint], all_usable, counters, Complaints())
    host.upstream = lambda cluster: upstream
    options = Audit.Options.model_validate({"journal": str(folder), "topic": {"name": broker.topic}})
    return HostedPlugin(PluginUse("audit", Audit, options), "main", host)


def kinds(broker: TopicBroker) -> list[str]:
    return [json.loads(bytes(record.value or b""))["data"]["kind"] for record in broker.records]


async def test_what_is_under_way_when_the_proxy_stops_ends_and_the_rest_follows(
    broker: TopicBroker, tmp_path: Path
) -> None:
    with capture_logs() as lines:
        async with trio.open_nursery() as running:
            await running.start(hosted(broker, tmp_path).run)
            await broker.heard.wait()
            running.cancel_scope.cancel()
            broker.speak.set()
    assert kinds(broker) == ["segment_opened", "journal_closed"]
    assert [line["event"] for line in lines] == ["audit journal begun"]


async def test_what_gets_no_answer_is_not_waited_for_longer_than_a_proxy_that_stops_may(
    broker: TopicBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_writing, "AT_THE_END", 0.1)
    with capture_logs() as lines:
        async with trio.open_nursery() as running:
            await running.start(hosted(broker, tmp_path).run)
            await broker.heard.wait()
            running.cancel_scope.cancel()
        await trio.testing.wait_all_tasks_blocked()  # lines of threads
    (line,) = (line for line in lines if line["event"] == "audit events not sent at the end")
    assert line["events"] == 2
    assert "not written within" in line["why"]
