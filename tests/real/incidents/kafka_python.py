"""kafka-python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer
from kafka.errors import KafkaTimeoutError

from proxy.protocol.errors import ErrorCode
from tests.real.incidents.sides import DELIVERY, HEARTBEAT, REQUEST, SESSION, Reader, Sender
from tests.real.way import Way

TRANSACTION = 10_000  # milliseconds that a transaction may take
SOON = {"reconnect_backoff_ms": 50, "reconnect_backoff_max_ms": 200, "retry_backoff_ms": 50}


class _Sender:
    throttles = 0  # kafka-python does not report throttling

    def __init__(self, producer: KafkaProducer, topic: str) -> None:
        self._producer, self._topic = producer, topic

    def send(self, value: bytes, partition: int) -> None:
        self._producer.send(self._topic, value, partition=partition).get(2 * DELIVERY / 1_000)


class _Transactor(_Sender):
    def send(self, value: bytes, partition: int) -> None:
        self._producer.begin_transaction()
        super().send(value, partition)
        # This is commit_transaction of kafka-python 3.0.12 with a timeout: that waits forever where no response comes.
        committing = self._producer._transaction_manager.begin_commit()
        self._producer._sender.wakeup()
        if not committing.wait(TRANSACTION):
            raise KafkaTimeoutError(f"the transaction is not committed after {TRANSACTION} ms")


class _Reader(ConsumerRebalanceListener):
    def __init__(self, consumer: KafkaConsumer) -> None:
        self.rebalances = 0
        self._consumer = consumer

    def on_partitions_revoked(self, revoked: Any) -> None:
        self.rebalances += 1

    def on_partitions_assigned(self, assigned: Any) -> None:
        pass

    def poll(self) -> int:
        return sum(map(len, self._consumer.poll(500).values()))

    def commit(self) -> None:
        self._consumer.commit(timeout_ms=DELIVERY)


class KafkaPython:
    name = "kafka-python"

    @contextmanager
    def sender(self, way: Way, topic: str) -> Iterator[Sender]:
        producer = KafkaProducer(
            bootstrap_servers=way.bootstrap,
            enable_idempotence=False,
            acks="all",
            retries=0,
            linger_ms=0,
            request_timeout_ms=REQUEST,
            delivery_timeout_ms=DELIVERY,
            max_block_ms=DELIVERY,
            **SOON,
        )
        try:
            yield _Sender(producer, topic)
        finally:
            producer.close(timeout=1)

    @contextmanager
    def transactor(self, way: Way, topic: str, transactional_id: str) -> Iterator[Sender]:
        producer = KafkaProducer(
            bootstrap_servers=way.bootstrap,
            transactional_id=transactional_id,
            linger_ms=0,
            max_block_ms=TRANSACTION,
            **SOON,
        )
        try:
            producer.init_transactions()
            yield _Transactor(producer, topic)
        finally:
            producer.close(timeout=1)

    @contextmanager
    def reader(self, way: Way, topic: str, group: str) -> Iterator[Reader]:
        consumer = KafkaConsumer(
            bootstrap_servers=way.bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=SESSION,
            heartbeat_interval_ms=HEARTBEAT,
            **SOON,
        )
        with closing(consumer):
            reader = _Reader(consumer)
            consumer.subscribe([topic], listener=reader)
            yield reader

    def seen(self, error: Exception) -> str:
        number = getattr(error, "errno", None)
        return ErrorCode(number).name if isinstance(number, int) and number >= 0 else type(error).__name__
