"""Kafka's own Java clients, by py4j."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError

from tests.real.incidents.sides import DELIVERY, HEARTBEAT, REQUEST, SESSION, Reader, Sender
from tests.real.java_clients import JavaClients
from tests.real.way import Way

AROUND = ("ExecutionException", "KafkaException")  # what stands around an error
SOON = {"reconnect_backoff_ms": 50, "reconnect_backoff_max_ms": 200, "retry_backoff_ms": 50}


class _Sender:
    throttles = 0  # the Java client does not report throttling

    def __init__(self, java: JavaClients, producer: Any, topic: str) -> None:
        self._java, self._producer, self._topic = java, producer, topic

    def send(self, value: bytes, partition: int) -> None:
        self._producer.send(self._java.record(self._topic, value, partition=partition)).get()


class _Transactor(_Sender):
    def send(self, value: bytes, partition: int) -> None:
        self._producer.beginTransaction()
        super().send(value, partition)
        self._producer.commitTransaction()


class _Reader:
    def __init__(self, java: JavaClients, consumer: Any) -> None:
        self._java, self._consumer = java, consumer
        self._generation: Any = None
        self.rebalances = 0

    def poll(self) -> int:
        many = len(self._java.poll(self._consumer, 300))
        generation = self._consumer.groupMetadata().generationId()
        self.rebalances += self._generation not in (None, generation)
        self._generation = generation
        return many

    def commit(self) -> None:
        self._consumer.commitSync(self._java.jvm.java.time.Duration.ofMillis(DELIVERY))


class Java:
    name = "java"

    def __init__(self, java: JavaClients) -> None:
        self._java = java

    @contextmanager
    def sender(self, way: Way, topic: str) -> Iterator[Sender]:
        more = {"request_timeout_ms": REQUEST, "delivery_timeout_ms": DELIVERY, "max_block_ms": DELIVERY, **SOON}
        with self._java.producer(way, acks="all", retries=0, enable_idempotence=False, linger_ms=0, **more) as producer:
            yield _Sender(self._java, producer, topic)

    @contextmanager
    def transactor(self, way: Way, topic: str, transactional_id: str) -> Iterator[Sender]:
        times = {"max_block_ms": 10_000, "request_timeout_ms": REQUEST, "delivery_timeout_ms": 10_000}
        more = {"transactional_id": transactional_id, "linger_ms": 0, **times, **SOON}
        with self._java.producer(way, **more) as producer:
            producer.initTransactions()
            yield _Transactor(self._java, producer, topic)

    @contextmanager
    def reader(self, way: Way, topic: str, group: str) -> Iterator[Reader]:
        times = {"session_timeout_ms": SESSION, "heartbeat_interval_ms": HEARTBEAT, **SOON}
        with self._java.consumer(way, group, topic, enable_auto_commit=False, **times) as consumer:
            yield _Reader(self._java, consumer)

    def seen(self, error: Exception) -> str:
        if not isinstance(error, Py4JJavaError):
            return type(error).__name__
        thrown = error.java_exception
        while thrown.getCause() is not None and thrown.getClass().getSimpleName() in (
            "ExecutionException",
            "KafkaException",
        ):
            thrown = thrown.getCause()
        code = str(self._java.jvm.org.apache.kafka.common.protocol.Errors.forException(thrown).name())
        return code if code != "UNKNOWN_SERVER_ERROR" else str(thrown.getClass().getSimpleName())
