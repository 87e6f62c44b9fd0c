"""Java clients, the newest and an old one, direct and through Doorkeeper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from tests.real.java_clients import JavaClients, each
from tests.real.records import CODECS, digest, large_record, patiently, some_records
from tests.real.topics import create
from tests.real.way import Way

pytestmark = pytest.mark.real

MB = 1024 * 1024
NEWEST, OLD = "4.4.0", "2.3.1"


@pytest.fixture(scope="module", params=[NEWEST, OLD])
def java(request: pytest.FixtureRequest) -> Iterator[JavaClients]:
    clients = JavaClients(request.param)
    yield clients
    clients.close()


@pytest.fixture
def newest(java: JavaClients) -> JavaClients:
    """The newest clients, for features that old ones lack."""
    if java.release != NEWEST:
        pytest.skip(f"the clients of {java.release} have no such thing")
    return java


def seen(record: Any) -> tuple[object, ...]:
    return record.partition(), record.offset(), record.key(), digest(record.value()), len(record.headers().toArray())


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_arrives_as_it_was_sent(
    way: Way, java: JavaClients, same: Callable[[object], None], codec: str
) -> None:
    topic = create(way, f"java-{java.release}-{codec}")
    records = [record for record in some_records(80) if record.key]
    with java.producer(way, compression_type=codec, linger_ms=50, enable_idempotence=True, acks="all") as producer:
        sent = [producer.send(java.record(topic, record.value, record.key)) for record in records]
        assert all(future.get().hasOffset() for future in sent)
    with java.consumer(way, f"java-{java.release}-{codec}", topic) as consumer:
        taken = java.take(consumer, len(records))
    expected = sorted((record.key, digest(record.value)) for record in records)
    assert sorted((record.key(), digest(record.value())) for record in taken) == expected
    same(sorted(map(seen, taken), key=repr))


def test_ten_megabytes_in_one_record_pass(way: Way, java: JavaClients, same: Callable[[object], None]) -> None:
    topic = create(way, f"java-{java.release}-large", partitions=1, max_message_bytes=str(11 * MB))
    record = large_record(10 * MB)
    with java.producer(way, max_request_size=11 * MB, buffer_memory=64 * MB) as producer:
        producer.send(java.record(topic, record.value)).get()
    with java.consumer(way, f"java-{java.release}-large", topic) as consumer:
        taken = java.take(consumer, 1)
    assert taken[0].value() == record.value
    same([seen(record) for record in taken])


def test_committed_transactions_are_read_and_aborted_ones_are_not(
    way: Way, java: JavaClients, same: Callable[[object], None]
) -> None:
    name = f"java-{java.release}-tx"
    topic = create(way, name)
    with java.producer(way, transactional_id=way.unique(name)) as producer:
        producer.initTransactions()
        for number in range(4):
            producer.beginTransaction()
            for _ in range(10):
                producer.send(java.record(topic, b"%d" % number, None, number % 3))
            if number % 2:
                producer.commitTransaction()
            else:
                producer.flush()
                producer.abortTransaction()

    def values(isolation: str, count: int) -> list[bytes]:
        with java.consumer(way, f"{name}-{isolation}", topic, isolation_level=isolation) as consumer:
            return sorted(record.value() for record in java.take(consumer, count))

    committed, everything = values("read_committed", 20), values("read_uncommitted", 40)
    assert committed == [b"1"] * 10 + [b"3"] * 10
    same((committed, everything))


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_come_and_go_and_share_the_partitions(
    way: Way, java: JavaClients, same: Callable[[object], None], protocol: str
) -> None:
    if java.release == OLD and protocol != "classic":
        pytest.skip("the old clients know the classic protocol alone")
    more: dict[str, Any] = {"group_protocol": protocol} if java.release != OLD else {}
    if protocol == "classic":  # in the new group protocol the broker decides
        more["heartbeat_interval_ms"] = 300
    name = f"java-{java.release}-{protocol}"
    topic = create(way, name, partitions=6)
    sizes = []
    with java.consumer(way, name, topic, **more) as first:
        sizes.append(settle(java, first, sizes=[6]))
        with java.consumer(way, name, topic, **more) as second:
            sizes.append(settle(java, first, second, sizes=[3, 3]))
        sizes.append(settle(java, first, sizes=[6]))
    same(sizes)


def settle(java: JavaClients, *consumers: Any, sizes: list[int]) -> list[int]:
    """Let the members poll until the partitions are assigned as wanted."""
    for _ in patiently(f"partitions shared as {sizes}"):
        for consumer in consumers:
            java.poll(consumer, 100)
        if sorted(consumer.assignment().size() for consumer in consumers) == sizes:
            break
    return sizes


def test_a_share_group_gives_each_record_to_one_member(
    way: Way, newest: JavaClients, same: Callable[[object], None]
) -> None:
    topic = create(way, "java-share", partitions=2)
    with newest.admin(way) as admin:
        group = newest.resource("GROUP", way.unique("java-share"))
        admin.incrementalAlterConfigs(newest.setting(group, "share.auto.offset.reset", "earliest")).all().get()
    with newest.producer(way) as producer:
        for number in range(100):
            producer.send(newest.record(topic, b"%d" % number, None, number % 2))
    values: list[list[bytes]] = [[], []]
    member = partial(newest.consumer, way, "java-share", topic, share=True, max_poll_records=10)
    with member() as first, member() as second:
        for _ in patiently("100 records, shared"):
            for number, consumer in enumerate((first, second)):
                values[number] += [record.value() for record in newest.poll(consumer, 200)]
                consumer.commitSync()
            if len(values[0]) + len(values[1]) >= 100:
                break
    assert sorted(map(int, values[0] + values[1])) == list(range(100))
    same(sorted(values[0] + values[1]))


def test_the_admin_client_does_its_work(way: Way, java: JavaClients, same: Callable[[object], None]) -> None:
    name = f"java-{java.release}-admin"
    topic, jvm, kafka = way.unique(name), java.jvm, java.jvm.org.apache.kafka
    outcome: list[object] = []
    with java.admin(way) as admin:
        nodes = admin.describeCluster().nodes().get()
        outcome.append(sorted(way.plain(f"{node.host()}:{node.port()}") for node in each(nodes)))
        admin.createTopics([kafka.clients.admin.NewTopic(topic, 2, 3)]).all().get()
        admin.createPartitions({topic: kafka.clients.admin.NewPartitions.increaseTo(5)}).all().get()
        for _ in patiently("five partitions"):
            if topic in admin.listTopics().names().get():
                answer = admin.describeTopics([topic])
                described = (answer.all() if java.release == OLD else answer.allTopicNames()).get()[topic]
                if described.partitions().size() == 5:
                    break
        leaders = [way.plain(f"{p.leader().host()}:{p.leader().port()}") for p in described.partitions()]
        assert all(leader.startswith("<broker") for leader in leaders)
        resource = java.resource("TOPIC", topic)
        admin.incrementalAlterConfigs(java.setting(resource, "retention.ms", "3600000")).all().get()
        for _ in patiently("the change is seen"):
            config = admin.describeConfigs([resource]).all().get()[resource]
            if config.get("retention.ms").value() == "3600000":
                break
        outcome.append(sorted(f"{entry.name()}={entry.value()}" for entry in each(config.entries())))
        with java.producer(way) as producer:
            for number in range(20):
                producer.send(java.record(topic, b"%d" % number, None, number % 5))
        with java.consumer(way, name, topic) as consumer:
            java.take(consumer, 20)
            consumer.commitSync()
            about = admin.describeConsumerGroups([way.unique(name)]).all().get()[way.unique(name)]
            outcome.append((about.members().size(), about.partitionAssignor()))
            assert way.plain(f"{about.coordinator().host()}:{about.coordinator().port()}").startswith("<broker")
        offsets = admin.listConsumerGroupOffsets(way.unique(name)).partitionsToOffsetAndMetadata().get()
        outcome.append(sorted((p.partition(), offsets[p].offset()) for p in offsets))
        admin.deleteConsumerGroups([way.unique(name)]).all().get()
        logs = admin.describeLogDirs(jvm.java.util.ArrayList([jvm.java.lang.Integer.valueOf(1)]))
        outcome.append(len(logs.all().get() if java.release == OLD else logs.allDescriptions().get()))
        admin.deleteTopics([topic]).all().get()
        for _ in patiently("the topic is gone"):
            if topic not in admin.listTopics().names().get():
                break
    same(outcome)
