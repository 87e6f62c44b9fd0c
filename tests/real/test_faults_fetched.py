"""Faults on records fetched from real brokers: the reactions of real clients, and the anomalies in a history."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from confluent_kafka import Producer
from kafka import KafkaConsumer
from kafka import TopicPartition as PythonPartition

from chaos.anomalies import AnomalyKind
from chaos.history import History
from chaos.notes import ClientHistory
from tests.real.cluster import Cluster
from tests.real.faulted import begun, faulty, messages, read, write
from tests.real.records import PATIENCE
from tests.real.topics import create, settings
from tests.real.way import Way

pytestmark = pytest.mark.real

MESSAGES = 5
FAULTS = [
    f"{{match: {{api: Fetch, topic: {kind}-*}}, do: {do}}}"
    for kind, do in {
        "dropped": "{batches: dropped}",
        "repeated": "{batches: repeated}",
        "missing": "{aborted: missing}",
        "added": "{aborted: added}",
        "past": "{timestamps: 1h}",
        "poison": "{corrupt: {what: value}}",
        "checksum": "{corrupt: {what: checksum}}",
        "compression": "{corrupt: {what: compression}}",
        "slow": "{bandwidth: 100KiB}",
    }.items()
] + [
    "{match: {api: Fetch, topic: partial-*}, do: {partial: {batches: 1}}}",
    "{match: {api: Fetch, topic: late-*}, when: {nth: 1}, do: {long_poll: 1s}}",
    "{match: {api: Produce, topic: future-*}, do: {timestamps: {by: 3h, into: future, side: before_broker}}}",
]


@pytest.fixture(scope="module")
def way(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """The way through Doorkeeper, with a fault for each kind of topic."""
    with faulty(tmp_path_factory.mktemp("faults"), cluster, FAULTS) as doorkeeper:
        yield doorkeeper.way


def kafka_python(way: Way, topic: str, notes: ClientHistory) -> None:
    """Read the whole partition with kafka-python, and note each record."""
    partition = PythonPartition(topic, 0)
    with closing(KafkaConsumer(bootstrap_servers=way.bootstrap, enable_auto_commit=False)) as consumer:
        consumer.assign([partition])
        consumer.seek(partition, 0)
        end = consumer.end_offsets([partition])[partition]
        while consumer.position(partition) < end:
            for record in consumer.poll(1000).get(partition, ()):
                notes.read(topic, 0, record.offset, record.value.decode())


READERS: list[Callable[[Way, str, ClientHistory], None]] = [read, kafka_python]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("kind", "found"),
    [("dropped", AnomalyKind.LOST_WRITE), ("repeated", AnomalyKind.NONMONOTONIC_POLL), ("partial", None)],
)
def test_a_batch_that_is_dropped_or_repeated_shows_in_the_history(
    way: Way, kind: str, found: AnomalyKind | None, reader: Callable[[Way, str, ClientHistory], None]
) -> None:
    """Clients cope with partial responses; they do not notice missing or repeated batches."""
    topic = create(way, f"{kind}-{reader.__name__}", 1)
    history = History()
    write(way, topic, MESSAGES, history.client("producer"))
    reader(way, topic, history.client("consumer"))
    assert history.check().kinds == ({found} if found else set())


def transact(way: Way, topic: str, notes: ClientHistory) -> None:
    """Write three transactions, and abort the second."""
    producer = Producer(settings(way, transactional_id=topic))
    producer.init_transactions(PATIENCE)
    for number in range(3):
        transaction = begun(producer, topic, number, notes)
        if number == 1:
            producer.abort_transaction(PATIENCE)
            transaction.aborted()
        else:
            transaction.commits()
            producer.commit_transaction(PATIENCE)
            transaction.committed()


@pytest.mark.parametrize(("kind", "found"), [("missing", AnomalyKind.ABORTED_READ), ("added", AnomalyKind.UNSEEN)])
def test_a_false_list_of_aborted_transactions_shows_in_the_history(way: Way, kind: str, found: AnomalyKind) -> None:
    topic = create(way, f"{kind}-list", 1)
    history = History()
    transact(way, topic, history.client("producer"))
    read(way, topic, history.client("consumer"))
    assert found in history.check().kinds


def test_times_are_an_hour_too_early(way: Way) -> None:
    topic, before = create(way, "past-hour", 1), int(time.time() * 1000)
    write(way, topic, 1)
    (message,) = messages(way, topic)
    assert before - 3_600_000 <= message.timestamp()[1] <= time.time() * 1000 - 3_600_000


def test_a_broker_refuses_times_that_are_yet_to_come(way: Way) -> None:
    topic = create(way, "future-hours", 1, message_timestamp_after_max_ms="3600000")
    assert write(way, topic, 1, retries=0) == ["INVALID_TIMESTAMP"]


def test_a_poisoned_record_is_read_and_is_garbage(way: Way) -> None:
    topic = create(way, "poison-record", 1)
    write(way, topic, 1)
    (message,) = messages(way, topic)
    assert (message.error(), message.value()) == (None, bytes([ord("0") ^ 0xFF]))


@pytest.mark.parametrize("kind", ["checksum", "compression"])
def test_a_consumer_notices_a_broken_batch(way: Way, kind: str) -> None:
    topic = create(way, f"{kind}-broken", 1)
    write(way, topic, 1)
    (message,) = messages(way, topic)
    assert message.error() is not None
    assert message.error().name() == {"checksum": "_BAD_MSG", "compression": "_BAD_COMPRESSION"}[kind]


def test_records_come_no_faster_than_the_bandwidth(way: Way) -> None:
    topic = create(way, "slow-line", 1)
    producer = Producer(settings(way))
    producer.produce(topic, bytes(102_400), partition=0)
    assert producer.flush(PATIENCE) == 0
    began = time.monotonic()
    (message,) = messages(way, topic)
    assert (len(message.value() or b""), time.monotonic() - began > 1.0) == (102_400, True)


def test_a_fetch_waits_longer_than_was_asked(way: Way) -> None:
    topic = create(way, "late-poll", 1)
    write(way, topic, 1)
    began = time.monotonic()
    (message,) = messages(way, topic, fetch_wait_max_ms=100)
    assert (message.value(), time.monotonic() - began > 1.0) == (b"0", True)
