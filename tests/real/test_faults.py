"""Faults on the way to real brokers, and the reactions of real clients, as the history of the test shows them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from kafka import KafkaProducer

from chaos.anomalies import AnomalyKind
from chaos.history import History
from chaos.notes import ClientHistory, NotedRead
from tests.real.cluster import Cluster
from tests.real.doorkeeper import Doorkeeper
from tests.real.faulted import begun
from tests.real.records import PATIENCE
from tests.real.topics import create, settings
from tests.real.way import Way

pytestmark = pytest.mark.real

MESSAGES = 10
LOST = "{disconnect: after_broker}"
MOVED = "{error: NOT_LEADER_OR_FOLLOWER}"
UNSURE = "{error: {code: NOT_ENOUGH_REPLICAS_AFTER_APPEND, side: after_broker}}"


def librdkafka(way: Way, topic: str, notes: ClientHistory, *, idempotent: bool) -> None:
    producer = Producer(settings(way, enable_idempotence=idempotent, linger_ms=0, retry_backoff_ms=50))
    for number in range(MESSAGES):
        sent = notes.send(topic, f"{number}")
        told: list[tuple[int, int]] = []
        producer.produce(
            topic,
            f"{number}".encode(),
            partition=0,
            on_delivery=lambda error, it, told=told: told.append((it.partition(), it.offset())) if not error else None,
        )
        assert producer.flush(PATIENCE) == 0
        sent.acknowledged(*told[0])


def kafka_python(way: Way, topic: str, notes: ClientHistory, *, idempotent: bool) -> None:
    made = KafkaProducer(
        bootstrap_servers=way.bootstrap, enable_idempotence=idempotent, acks="all", retries=10, retry_backoff_ms=50
    )
    with closing(made) as producer:
        for number in range(MESSAGES):
            sent = notes.send(topic, f"{number}")
            told = producer.send(topic, f"{number}".encode(), partition=0).get(PATIENCE)
            sent.acknowledged(told.partition, told.offset)


def aiokafka(way: Way, topic: str, notes: ClientHistory, *, idempotent: bool) -> None:
    async def produce() -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=way.bootstrap, enable_idempotence=idempotent, acks="all", retry_backoff_ms=50
        )
        await producer.start()
        try:
            for number in range(MESSAGES):
                sent = notes.send(topic, f"{number}")
                told = await asyncio.wait_for(
                    producer.send_and_wait(topic, f"{number}".encode(), partition=0), PATIENCE
                )
                sent.acknowledged(told.partition, told.offset)
        finally:
            await producer.stop()

    asyncio.run(produce())


CLIENTS: list[Callable[..., None]] = [librdkafka, kafka_python, aiokafka]


def read(way: Way, topic: str, notes: ClientHistory) -> None:
    """Read the whole partition, and note each record."""
    consumer = Consumer(settings(way, group_id=topic, enable_partition_eof=True, isolation_level="read_committed"))
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        while (message := consumer.poll(PATIENCE)) is not None and not message.error():
            notes.read(topic, 0, message.offset() or 0, (message.value() or b"").decode())
    finally:
        consumer.close()


@pytest.fixture(scope="module")
def way(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """The way through Doorkeeper, with a fault at the third and the sixth request for each topic."""
    folder = tmp_path_factory.mktemp("faults")
    rules = [
        f"- {{match: {{api: Produce, topic: {kind}-{client.__name__}*}}, when: {{nth: [3, 6]}}, do: {effect}}}\n"
        for kind, effect in (("plain", LOST), ("exact", LOST), ("moved", MOVED), ("unsure", UNSURE))
        for client in CLIENTS
    ]
    rules += [
        f"- {{match: {{api: EndTxn, transactional_id: {kind}*}}, when: {{nth: 2}}, do: {effect}}}\n"
        for kind, effect in (("lost", LOST), ("fenced", "{error: PRODUCER_FENCED}"))
    ]
    (folder / "faults.yaml").write_text("faults:\n" + "".join(rules))
    with Doorkeeper(folder, cluster, "plugins: [faults: {rules: faults.yaml}]\n") as doorkeeper:
        yield doorkeeper.way


def played(way: Way, kind: str, client: Callable[..., None], *, idempotent: bool) -> History:
    """Write and read a topic with this client, and give the history."""
    topic = create(way, f"{kind}-{client.__name__}", 1)
    history = History()
    client(way, topic, history.client("producer"), idempotent=idempotent)
    read(way, topic, history.client("consumer"))
    return history


@pytest.mark.parametrize("client", CLIENTS)
def test_a_plain_producer_writes_twice_what_it_did_not_learn_was_written(way: Way, client: Callable[..., None]) -> None:
    found = played(way, "plain", client, idempotent=False).check()
    assert found.kinds == {AnomalyKind.DUPLICATE}
    assert len(found) == 2


@pytest.mark.parametrize("client", CLIENTS)
def test_an_idempotent_producer_writes_it_once(way: Way, client: Callable[..., None]) -> None:
    played(way, "exact", client, idempotent=True).assert_clean()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_leader_that_moved_costs_nothing(way: Way, client: Callable[..., None]) -> None:
    played(way, "moved", client, idempotent=False).assert_clean()


@pytest.mark.parametrize("client", CLIENTS)
def test_an_error_after_the_append_is_tried_again(way: Way, client: Callable[..., None]) -> None:
    assert len(played(way, "unsure", client, idempotent=False).check().of(AnomalyKind.DUPLICATE)) == 2


def transact(way: Way, kind: str, topic: str, notes: ClientHistory) -> None:
    """Three transactions, one after the other; a producer that is fenced is replaced."""
    producer = None
    for number in range(3):
        if producer is None:
            producer = Producer(settings(way, transactional_id=way.unique(kind)))
            producer.init_transactions(PATIENCE)
        transaction = begun(producer, topic, number, notes)
        transaction.commits()
        try:
            producer.commit_transaction(PATIENCE)
        except KafkaException:
            transaction.aborted()
            producer = None
        else:
            transaction.committed()


@pytest.mark.parametrize(("kind", "read_of_it"), [("lost", ["0", "1", "2"]), ("fenced", ["0", "2"])])
def test_a_transaction_is_there_as_a_whole_or_not_at_all(way: Way, kind: str, read_of_it: list[str]) -> None:
    """`lost`: the commit's response is lost, and the client retries. `fenced`: it gets PRODUCER_FENCED, and aborts."""
    topic = create(way, f"transactions-{kind}", 1)
    history = History()
    transact(way, kind, topic, history.client("producer"))
    consumer = history.client("consumer")
    read(way, topic, consumer)
    history.assert_clean()
    assert [note.value for note in consumer.reads if isinstance(note, NotedRead)] == read_of_it
