"""librdkafka, by confluent-kafka."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, ThrottleEvent

from proxy.protocol.errors import ErrorCode
from tests.real.incidents.sides import DELIVERY, HEARTBEAT, REQUEST, SESSION, Reader, Sender
from tests.real.topics import settings
from tests.real.way import Way

SILENT = logging.getLogger("incidents.librdkafka")
SILENT.setLevel(logging.CRITICAL + 1)  # the tests provoke fatal errors, which need no log lines
MANY = 1_000  # more than arrive during one poll
SOON = {"reconnect_backoff_ms": 50, "reconnect_backoff_max_ms": 200, "socket_timeout_ms": REQUEST}


class _Sender:
    def __init__(self, way: Way, topic: str, **more: Any) -> None:
        self.throttles = 0
        more = {"logger": SILENT, "message_send_max_retries": 0, "message_timeout_ms": DELIVERY, **more}
        told = settings(way, linger_ms=0, acks="all", **SOON, **more) | {"throttle_cb": self._told}
        self._topic, self.producer = topic, Producer(told)

    def _told(self, event: ThrottleEvent) -> None:
        self.throttles += event.throttle_time > 0  # librdkafka also calls this when throttling ends

    def send(self, value: bytes, partition: int) -> None:
        told: list[KafkaError | None] = []
        self.producer.produce(self._topic, value, partition=partition, on_delivery=lambda error, _: told.append(error))
        while not told:
            self.producer.poll(0.1)
        if told[0] is not None:
            raise KafkaException(told[0])


class _Transactor(_Sender):
    def __init__(self, way: Way, topic: str, transactional_id: str) -> None:
        super().__init__(way, topic, transactional_id=transactional_id, message_send_max_retries=1_000)
        self.producer.init_transactions(10)

    def send(self, value: bytes, partition: int) -> None:
        self.producer.begin_transaction()
        super().send(value, partition)
        self.producer.commit_transaction(10)


class _Reader:
    def __init__(self, way: Way, topic: str, group: str) -> None:
        self.rebalances = 0
        times = {"session_timeout_ms": SESSION, "heartbeat_interval_ms": HEARTBEAT, "fetch_error_backoff_ms": 100}
        more: dict[str, Any] = {"enable_auto_commit": False, "auto_offset_reset": "earliest", "check_crcs": True}
        self.consumer = Consumer(settings(way, group_id=group, **times, **more, **SOON))
        self.consumer.subscribe([topic], on_revoke=self._taken, on_lost=self._taken)
        self._last: Message | None = None

    def _taken(self, *_: Any) -> None:
        self.rebalances += 1

    def poll(self) -> int:
        # All available records: a reader that commits each record alone lags behind, and then reads old fetches.
        messages = self.consumer.consume(MANY, 0.2)
        for message in messages:
            error = message.error()
            if error is not None:
                raise KafkaException(error)
            self._last = message
        return len(messages)

    def commit(self) -> None:
        self.consumer.commit(message=self._last, asynchronous=False)


class Librdkafka:
    name = "librdkafka"

    @contextmanager
    def sender(self, way: Way, topic: str) -> Iterator[Sender]:
        sender = _Sender(way, topic)
        yield sender
        sender.producer.purge()

    @contextmanager
    def transactor(self, way: Way, topic: str, transactional_id: str) -> Iterator[Sender]:
        sender = _Transactor(way, topic, transactional_id)
        yield sender

    @contextmanager
    def reader(self, way: Way, topic: str, group: str) -> Iterator[Reader]:
        reader = _Reader(way, topic, group)
        try:
            yield reader
        finally:
            reader.consumer.close()

    def seen(self, error: Exception) -> str:
        if isinstance(error, KafkaException):
            code = error.args[0].code()
            return ErrorCode(code).name if code > 0 else str(error.args[0].name())
        return type(error).__name__
