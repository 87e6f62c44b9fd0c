"""Clients for tests of faults: they write and read through Doorkeeper, and record that in a history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from chaos.notes import ClientHistory, NotedTransaction
from tests.real.cluster import Cluster
from tests.real.doorkeeper import Doorkeeper
from tests.real.records import PATIENCE
from tests.real.topics import settings
from tests.real.way import Way

READING = {
    "isolation_level": "read_committed",
    "enable_partition_eof": True,
    "enable_auto_commit": False,
    "check_crcs": True,
}


@contextmanager
def faulty(folder: Path, cluster: Cluster, faults: Sequence[str]) -> Iterator[Doorkeeper]:
    """Doorkeeper with these faults, each a line of YAML."""
    (folder / "faults.yaml").write_text("faults:\n" + "".join(f"- {fault}\n" for fault in faults))
    with Doorkeeper(folder, cluster, "plugins: [faults: {rules: faults.yaml}]\n") as doorkeeper:
        yield doorkeeper


def write(way: Way, topic: str, count: int, notes: ClientHistory | None = None, **more: Any) -> list[str | None]:
    """Write `count` records, each in its own batch. Gives the producer's result for each: None, or the error."""
    producer = Producer(settings(way, **{"linger_ms": 0, "retry_backoff_ms": 50, **more}))
    told: list[str | None] = []
    for number in range(count):
        sent = notes.send(topic, f"{number}") if notes is not None else None

        def delivered(error: Any, message: Message, sent: Any = sent) -> None:
            told.append(error.name() if error else None)
            if sent is not None and not error:
                sent.acknowledged(message.partition(), message.offset())

        producer.produce(topic, f"{number}".encode(), partition=0, on_delivery=delivered)
        assert producer.flush(PATIENCE) == 0
    return told


def messages(way: Way, topic: str, **more: Any) -> list[Message]:
    """All messages that a consumer gets from the partition, up to its end or to the first error, which is included."""
    consumer = Consumer(settings(way, **{**READING, "group_id": topic, **more}))
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[Message] = []
    try:
        while (message := consumer.poll(PATIENCE)) is not None and not message.error():
            found.append(message)
        assert message is not None, "the consumer got neither records nor the end"
        if message.error().name() != "_PARTITION_EOF":
            found.append(message)
    finally:
        consumer.close()
    return found


def read(way: Way, topic: str, notes: ClientHistory, **more: Any) -> None:
    """Read the whole partition, and note each record."""
    for message in messages(way, topic, **more):
        assert not message.error()
        notes.read(topic, 0, message.offset() or 0, (message.value() or b"").decode())


def begun(producer: Producer, topic: str, number: int, notes: ClientHistory) -> NotedTransaction:
    """Begin a transaction with one record in it, and note both."""
    producer.begin_transaction()
    transaction = notes.begin()
    sent = transaction.send(topic, f"{number}")
    producer.produce(
        topic,
        f"{number}".encode(),
        partition=0,
        on_delivery=lambda error, it: sent.acknowledged(it.partition(), it.offset()),
    )
    producer.flush(PATIENCE)
    return transaction
