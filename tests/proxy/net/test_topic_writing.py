"""Topic writing: records reach the leader of one partition, in order; any failure is one error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import trio
from confluent_kafka import Consumer, Producer

from proxy.core.topic_writer import TopicError
from proxy.core.topology import Endpoint
from proxy.net import topic_writing
from proxy.net.cluster_access import ClusterAccess
from proxy.net.complaints import Complaints
from proxy.net.topic_writing import ClusterTopicWriter
from proxy.net.upstream import Upstream
from proxy.protocol.errors import ErrorCode
from proxy.protocol.records import Header, Record
from proxy.telemetry.counters import NetworkCounters
from tests.proxy.net.scripted import Broker, all_usable
from tests.proxy.net.topic_broker import TopicBroker

SECONDS = 10.0


@pytest.fixture(scope="module")
def addresses() -> Iterator[list[str]]:
    """Two brokers, as librdkafka acts them, which have the topic `audit`."""
    cluster = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 2, "log_level": 0})
    brokers = cluster.list_topics(timeout=SECONDS).brokers.values()
    there = [f"{broker.host}:{broker.port}" for broker in brokers]
    cluster.list_topics("audit", timeout=SECONDS)  # which makes it
    yield there
    del cluster


def upstream(*bootstrap: Endpoint) -> Upstream:
    return Upstream(ClusterAccess("main", 2.0), bootstrap, all_usable, NetworkCounters(), Complaints())


def endpoint(address: str) -> Endpoint:
    host, _, port = address.rpartition(":")
    return Endpoint(host, int(port))


def records(first: int, many: int, key: bytes = b"chain/0") -> list[Record]:
    return [
        Record(key, b"%d" % n, (Header("content-type", b"text"),), 1_772_352_000_000 + n) for n in range(first, many)
    ]


async def write(writer: ClusterTopicWriter, some: list[Record], seconds: float = SECONDS) -> None:
    """As a plugin does, in a thread."""
    await trio.to_thread.run_sync(writer.write, some, seconds)


def read(addresses: list[str], key: bytes, many: int) -> list[tuple[int, bytes, object]]:
    """Partition, value and headers of the records with this key."""
    consumer = Consumer(
        {"bootstrap.servers": addresses[0], "group.id": key.decode(), "auto.offset.reset": "earliest", "log_level": 0}
    )
    consumer.subscribe(["audit"])
    found: list[tuple[int, bytes, object]] = []
    try:
        while len(found) < many:
            message = consumer.poll(SECONDS)
            assert message is not None
            assert not message.error()
            if message.key() == key:
                found.append((message.partition(), message.value(), message.headers()))
    finally:
        consumer.close()
    return found


async def test_records_of_a_key_stand_in_one_partition_in_order(addresses: list[str]) -> None:
    there = upstream(*map(endpoint, addresses))
    writer = ClusterTopicWriter("main", "audit", lambda: there)
    await write(writer, records(0, 50))
    await write(writer, records(50, 60))
    await writer.close()
    await write(writer, records(60, 61))
    await writer.close()
    producer = Producer({"bootstrap.servers": addresses[0], "partitioner": "consistent", "log_level": 0})
    producer.produce("audit", b"61", b"chain/0")
    assert await trio.to_thread.run_sync(producer.flush, SECONDS) == 0
    found = await trio.to_thread.run_sync(read, addresses, b"chain/0", 62)
    assert len({partition for partition, _, _ in found}) == 1
    assert [int(value) for _, value, _ in found] == list(range(62))
    assert found[0][2] == [("content-type", b"text")]


async def refused(writer: ClusterTopicWriter, seconds: float = SECONDS) -> str:
    with pytest.raises(TopicError) as raised:
        await write(writer, records(0, 1), seconds)
    assert "\n" not in str(raised.value)
    return str(raised.value)


async def test_a_broker_that_is_down_is_told_with_its_address() -> None:
    there = upstream(Endpoint("127.0.0.1", 1))
    said = await refused(ClusterTopicWriter("main", "audit", lambda: there))
    assert said == "topic audit of cluster main: 127.0.0.1:1: connection refused"


async def test_another_broker_is_asked_where_one_is_down(addresses: list[str]) -> None:
    there = upstream(Endpoint("127.0.0.1", 1), endpoint(addresses[1]))
    writer = ClusterTopicWriter("main", "audit", lambda: there)
    await write(writer, records(0, 1, b"another"))
    await writer.close()


async def test_a_broker_that_says_nothing_is_waited_for_no_longer_than_asked(broker: Broker) -> None:
    broker.mute = {"ApiVersions"}
    there = upstream(broker.endpoint)
    said = await refused(ClusterTopicWriter("main", "audit", lambda: there), 0.1)
    assert said == "topic audit of cluster main: not written within 0.1 s"


async def test_a_broker_that_closes_is_told(broker: Broker) -> None:
    broker.closes_on = {"Metadata"}
    there = upstream(broker.endpoint)
    said = await refused(ClusterTopicWriter("main", "audit", lambda: there))
    assert said.endswith("closed the connection instead of answering Metadata")


async def test_a_topic_without_a_leader_is_tried_a_few_times(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_writing, "PAUSE", 0.0)
    there = upstream(broker.endpoint)  # which knows no topics
    said = await refused(ClusterTopicWriter("main", "audit", lambda: there))
    assert said.endswith("partition None has no leader now; bring back its brokers")
    assert [api for api, _ in broker.asked].count("Metadata") == topic_writing.TRIES


@pytest.fixture
async def topic_broker(nursery) -> TopicBroker:  # type: ignore[no-untyped-def]  # pytest-trio has no types
    """One broker with the topic, listening."""
    broker = TopicBroker("audit")
    await nursery.start(broker.serve)
    return broker


def connections(broker: Broker) -> int:
    return [api for api, _ in broker.asked].count("ApiVersions")


async def test_a_connection_that_the_broker_closed_meanwhile_is_no_error(topic_broker: TopicBroker) -> None:
    there = upstream(topic_broker.endpoint)
    writer = ClusterTopicWriter("main", "audit", lambda: there)
    topic_broker.closes_after = {"Produce"}
    for number in range(5):
        await write(writer, records(number, number + 1))
    await writer.close()
    assert [int(record.value or b"") for record in topic_broker.records] == list(range(5))


async def test_a_broker_that_is_gone_when_it_is_written_to_again_is_told(topic_broker: TopicBroker) -> None:
    there = upstream(topic_broker.endpoint)
    writer = ClusterTopicWriter("main", "audit", lambda: there)
    await write(writer, records(0, 1))
    topic_broker.die()
    assert (await refused(writer)).endswith(f"{topic_broker.endpoint}: connection refused")


async def test_another_configuration_of_the_cluster_takes_another_connection(topic_broker: TopicBroker) -> None:
    there: Upstream | None = upstream(topic_broker.endpoint)
    writer = ClusterTopicWriter("main", "audit", lambda: there)
    await write(writer, records(0, 1))
    begun = connections(topic_broker)
    await write(writer, records(1, 2))
    assert connections(topic_broker) == begun
    there = None  # the cluster is left out: what waits goes where the rest went
    await write(writer, records(2, 3))
    assert connections(topic_broker) == begun
    there = upstream(topic_broker.endpoint)
    await write(writer, records(3, 4))
    assert connections(topic_broker) == 2 * begun
    await writer.close()
    assert [int(record.value or b"") for record in topic_broker.records] == list(range(4))


async def test_what_has_not_begun_when_its_plugin_stops_is_not_begun(topic_broker: TopicBroker) -> None:
    there = upstream(topic_broker.endpoint)
    writer = ClusterTopicWriter("main", "audit", lambda: there)

    def stopped_and_then_written() -> None:
        trio.from_thread.run_sync(scope.cancel)
        writer.write(records(0, 1), SECONDS)

    with trio.CancelScope() as scope:
        await trio.to_thread.run_sync(stopped_and_then_written)
    assert scope.cancelled_caught
    assert not topic_broker.asked


async def test_what_its_plugin_writes_while_it_stops_shares_a_few_seconds(
    topic_broker: TopicBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_writing, "AT_THE_END", 0.1)
    topic_broker.mute = {"Produce"}
    there = upstream(topic_broker.endpoint)
    writer = ClusterTopicWriter("main", "audit", lambda: there)
    writer.end()
    assert await refused(writer, 3600.0)
    assert (await refused(writer, 3600.0)).endswith(": not written within 0 s")


async def test_a_cluster_that_is_not_served_is_told() -> None:
    said = await refused(ClusterTopicWriter("other", "audit", lambda: None))
    assert said == "topic audit of cluster other: the proxy does not serve this cluster now"


@pytest.mark.parametrize("error", sorted(topic_writing.INVALID | topic_writing.TOO_LARGE))
async def test_errors_of_a_record_are_told_from_those_of_a_topic(topic_broker: TopicBroker, error: ErrorCode) -> None:
    there = upstream(topic_broker.endpoint)
    writer = ClusterTopicWriter("main", "audit", lambda: there)
    topic_broker.invalid = {b"1": error}
    with pytest.raises(TopicError, match=f"^topic audit of cluster main: {error.name}; ") as raised:
        await write(writer, records(0, 3))
    is_too_large = error in topic_writing.TOO_LARGE
    assert (raised.value.is_too_large, raised.value.is_invalid) == (is_too_large, not is_too_large)
    await write(writer, records(2, 3))
    await writer.close()
    assert [int(record.value or b"") for record in topic_broker.records] == [2]


def test_every_way_out_is_of_an_error_that_kafka_has() -> None:
    assert all(error.name in ErrorCode.__members__ for error in {*topic_writing.WAYS_OUT, *topic_writing.MOVED})
