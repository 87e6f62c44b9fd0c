"""Own connections: the broker is asked for its API versions, and errors say where they occurred."""

from __future__ import annotations

import pytest

from proxy.net.cluster_access import ClusterAccess
from proxy.net.complaints import Complaints
from proxy.net.dial import UnreachableError
from proxy.net.own_connections import OwnConnection
from proxy.net.upstream import Upstream
from proxy.protocol.api import METADATA, PRODUCE
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.telemetry.counters import NetworkCounters
from tests.proxy.net.scripted import Broker, all_usable


def upstream(broker: Broker) -> Upstream:
    return Upstream(ClusterAccess("main", 2.0), [broker.endpoint], all_usable, NetworkCounters(), Complaints())


async def test_a_broker_is_asked_in_the_newest_version_that_both_have(broker: Broker) -> None:
    async with await OwnConnection.begun(upstream(broker), broker.endpoint) as own:
        version = own.version(METADATA, 4, METADATA.newest)
        answer = await own.ask(MetadataRequest(topics=[]), version, MetadataResponse, "brokers")
    assert version == METADATA.newest
    assert [one.node_id for one in answer.brokers] == [broker.node_id]


async def test_a_broker_without_an_api_is_told_to_be_older_than_needed(broker: Broker) -> None:
    async with await OwnConnection.begun(upstream(broker), broker.endpoint) as own:
        with pytest.raises(UnreachableError, match="has no Produce v3; it is older than this needs"):
            own.version(PRODUCE, 3, 12)


async def test_a_broker_that_closes_is_told_with_what_it_was_asked(broker: Broker) -> None:
    broker.closes_on = {"ApiVersions"}
    with pytest.raises(UnreachableError, match="closed the connection instead of answering ApiVersions") as raised:
        await OwnConnection.begun(upstream(broker), broker.endpoint)
    assert str(broker.endpoint) in str(raised.value)
