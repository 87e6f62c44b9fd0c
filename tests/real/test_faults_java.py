"""Faults that affect only Java clients, or affect them differently: newer group protocols, and fetched records."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from py4j.protocol import Py4JJavaError

from tests.real.doorkeeper import Doorkeeper
from tests.real.faulted import write
from tests.real.java_clients import JavaClients
from tests.real.records import PATIENCE, patiently
from tests.real.topics import create
from tests.real.way import Way

pytestmark = pytest.mark.real

MESSAGES = 5
FAULTS = [
    "{match: {api: ConsumerGroupHeartbeat, group: consumer-fenced-*}, when: {after: 1, times: 2}, do: rebalance}",
    "{match: {api: ConsumerGroupHeartbeat, group: consumer-expelled-*}, when: {nth: 2}, do: expel}",
    "{match: {api: ShareGroupHeartbeat, group: share-fenced-*}, when: {after: 1, times: 2}, do: rebalance}",
    "{name: other-id, match: {api: Metadata, client_id: recreated}, when: {times: 2}, do: recreated}",
    "{match: {api: Fetch, topic: repeated-*}, do: {batches: repeated}}",
    "{match: {api: Fetch, topic: replica-*}, when: {nth: [1, 3]}, do: {read_replica: unknown}}",
    "{match: {api: Produce, topic: hinted-*}, when: {nth: 2}, do: {hint: older}}",
]


@pytest.fixture(scope="module")
def java() -> Iterator[JavaClients]:
    clients = JavaClients("4.4.0")
    yield clients
    clients.close()


@pytest.fixture(scope="module")
def way(faulted: Doorkeeper) -> Way:
    return faulted.way


@pytest.mark.parametrize("kind", ["fenced", "expelled"])
def test_a_member_of_a_consumer_group_comes_back_and_reads_on(way: Way, java: JavaClients, kind: str) -> None:
    topic = create(way, f"consumer-{kind}", 1)
    with java.consumer(way, f"consumer-{kind}", topic, group_protocol="consumer") as consumer:
        write(way, topic, 1)
        assert [record.value() for record in java.take(consumer, 1)] == [b"0"]
        for _ in patiently("the member commits"):
            try:
                consumer.commitSync()
                break
            except Py4JJavaError:  # the member was expelled at this moment: it rejoins, and reads again
                java.poll(consumer)
        for _ in range(6):  # time for heartbeats, some of which get an error that the member is unknown
            java.poll(consumer)
        write(way, topic, 2)
        assert [record.value() for record in java.take(consumer, 2)] == [b"0", b"1"]


def test_a_member_of_a_share_group_comes_back_and_reads_all(way: Way, java: JavaClients) -> None:
    topic = create(way, "share-fenced", 1)
    with java.admin(way) as admin:
        setting = java.setting(
            java.resource("GROUP", way.unique("share-fenced")), "share.auto.offset.reset", "earliest"
        )
        admin.incrementalAlterConfigs(setting).all().get()
    write(way, topic, MESSAGES)
    with java.consumer(way, "share-fenced", topic, share=True) as consumer:
        taken = {record.value() for record in java.take(consumer, MESSAGES)}
        for _ in range(6):
            taken |= {record.value() for record in java.poll(consumer)}
    assert taken == {b"%d" % number for number in range(MESSAGES)}


@pytest.mark.parametrize("kind", ["repeated", "replica"])
def test_a_consumer_reads_each_record_once(way: Way, java: JavaClients, kind: str) -> None:
    """It skips records that it has read already, and soon stops asking an unknown replica."""
    topic = create(way, f"{kind}-java", 1)
    write(way, topic, MESSAGES)
    with java.consumer(way, f"{kind}-java", topic) as consumer:
        assert [record.offset() for record in java.take(consumer, MESSAGES)] == list(range(MESSAGES))


def test_a_consumer_that_was_told_a_false_id_of_a_topic_learns_the_true_one(
    faulted: Doorkeeper, java: JavaClients
) -> None:
    topic = create(faulted.way, "recreated-java", 1)
    write(faulted.way, topic, MESSAGES)
    with java.consumer(faulted.way, "recreated-java", topic, client_id="recreated") as consumer:
        assert [record.offset() for record in java.take(consumer, MESSAGES)] == list(range(MESSAGES))
    faulted.program.expect("fault fired", "fault=other-id", within=PATIENCE)


def test_a_producer_ignores_a_hint_that_is_over(way: Way, java: JavaClients) -> None:
    topic = create(way, "hinted-java", 1)
    with java.producer(way, acks="all") as producer:
        offsets = [producer.send(java.record(topic, b"a", partition=0)).get().offset() for _ in range(3)]
    assert offsets == [0, 1, 2]
