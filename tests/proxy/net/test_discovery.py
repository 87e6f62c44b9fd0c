from __future__ import annotations

import pytest
import trio

from proxy.core.topology import Endpoint
from proxy.net import discovery
from proxy.net.dial import UnreachableError
from proxy.net.discovery import discover
from proxy.protocol.api import METADATA
from tests.proxy.net.scripted import LOOPBACK, Broker

THREE = {number: Endpoint(f"kafka-{number}", 9092) for number in (1, 2, 1001)}


async def test_all_brokers_are_learned_from_one(broker: Broker) -> None:
    broker.told = THREE
    assert (await discover(broker.endpoint, 5)).brokers == THREE


async def test_a_broker_is_asked_where_via_says(broker: Broker) -> None:
    broker.told, elsewhere = THREE, Endpoint("kafka-1.invalid", 9092)
    assert (await discover(elsewhere, 5, via={elsewhere: broker.endpoint})).brokers == THREE


async def test_the_newest_common_version_is_asked_for_no_topics(broker: Broker) -> None:
    await discover(broker.endpoint, 5)
    assert broker.asked == [("ApiVersions", 0), ("Metadata", METADATA.newest)]


async def test_a_broker_that_closes_on_api_versions_is_asked_as_0_8_2_is(broker: Broker) -> None:
    broker.closes_on = {"ApiVersions"}
    assert broker.node_id in (await discover(broker.endpoint, 5)).brokers
    assert broker.asked[-1] == ("Metadata", 0)


async def test_a_broker_that_is_silent_on_api_versions_is_asked_as_0_9_is(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "SILENCE", 0.05)
    broker.mute = {"ApiVersions"}
    assert broker.node_id in (await discover(broker.endpoint, 5)).brokers
    assert broker.asked[-1] == ("Metadata", 0)


async def test_a_broker_that_closes_on_metadata_is_unreachable(broker: Broker) -> None:
    broker.closes_on = {"Metadata"}
    with pytest.raises(UnreachableError, match="closed the connection instead of answering Metadata"):
        await discover(broker.endpoint, 5)


async def test_a_broker_that_stalls_on_metadata_is_unreachable(broker: Broker) -> None:
    broker.mute = {"Metadata"}
    with pytest.raises(UnreachableError, match=r"no answer to Metadata within 0\.1 s") as raised:
        await discover(broker.endpoint, 0.1)
    assert raised.value.stalled


async def test_a_broker_that_names_brokers_without_end_knows_none(broker: Broker) -> None:
    broker.told = {number: Endpoint("kafka", 9092) for number in range(discovery.ENDLESS + 1)}
    with pytest.raises(UnreachableError, match="names more than 10,000 brokers"):
        await discover(broker.endpoint, 5)


@pytest.mark.parametrize(
    ("says", "because"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak Kafka: it answered with HTTP"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "does not speak Kafka: it answered with TLS"),
        (b"\xff\xff\xff\xff", "does not speak Kafka: it answered with something else"),
        (b"\0\0\0\4\0\0\0\0", "does not speak Kafka: ApiVersions response v0"),
    ],
    ids=["HTTP", "TLS", "negative", "short"],
)
async def test_what_is_no_broker_is_said_to_be_none(nursery: trio.Nursery, says: bytes, because: str) -> None:
    async def answer(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.receive_some()
            await stream.send_all(says)

    listeners = await trio.open_tcp_listeners(0, host=LOOPBACK)
    nursery.start_soon(trio.serve_listeners, answer, listeners)
    with pytest.raises(UnreachableError, match=because):
        await discover(Endpoint(*listeners[0].socket.getsockname()), 5)
