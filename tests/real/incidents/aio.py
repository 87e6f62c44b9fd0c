"""aiokafka, each side on an event loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener

from proxy.protocol.errors import ErrorCode
from tests.real.incidents.sides import DELIVERY, HEARTBEAT, REQUEST, SESSION, Reader, Sender
from tests.real.way import Way

SOON = {"retry_backoff_ms": 50}


def _within(runner: asyncio.Runner, doing: Coroutine[Any, Any, Any], milliseconds: int) -> Any:
    return runner.run(asyncio.wait_for(doing, milliseconds / 1_000))


class _Sender:
    throttles = 0  # aiokafka does not report throttling

    def __init__(self, runner: asyncio.Runner, producer: AIOKafkaProducer, topic: str) -> None:
        self._runner, self._producer, self._topic = runner, producer, topic

    def send(self, value: bytes, partition: int) -> None:
        _within(self._runner, self._producer.send_and_wait(self._topic, value, partition=partition), 2 * DELIVERY)


class _Transactor(_Sender):
    def send(self, value: bytes, partition: int) -> None:
        _within(self._runner, self._transact(value, partition), 10_000)

    async def _transact(self, value: bytes, partition: int) -> None:
        await self._producer.begin_transaction()
        await self._producer.send_and_wait(self._topic, value, partition=partition)
        await self._producer.commit_transaction()


class _Reader(ConsumerRebalanceListener):
    def __init__(self, runner: asyncio.Runner, consumer: AIOKafkaConsumer) -> None:
        self.rebalances = 0
        self._runner, self._consumer = runner, consumer

    def on_partitions_revoked(self, revoked: Any) -> None:
        self.rebalances += bool(revoked)

    def on_partitions_assigned(self, assigned: Any) -> None:
        pass

    def poll(self) -> int:
        return sum(map(len, _within(self._runner, self._consumer.getmany(timeout_ms=300), 10_000).values()))

    def commit(self) -> None:
        _within(self._runner, self._consumer.commit(), DELIVERY)


class Aiokafka:
    name = "aiokafka"

    @contextmanager
    def sender(self, way: Way, topic: str) -> Iterator[Sender]:
        with self._producer(way, acks="all", request_timeout_ms=REQUEST) as (runner, producer):
            yield _Sender(runner, producer, topic)

    @contextmanager
    def transactor(self, way: Way, topic: str, transactional_id: str) -> Iterator[Sender]:
        with self._producer(way, transactional_id=transactional_id) as (runner, producer):
            yield _Transactor(runner, producer, topic)

    @contextmanager
    def _producer(self, way: Way, **more: Any) -> Iterator[tuple[asyncio.Runner, AIOKafkaProducer]]:
        async def make() -> AIOKafkaProducer:
            producer = AIOKafkaProducer(bootstrap_servers=way.bootstrap, linger_ms=0, **SOON, **more)
            await producer.start()
            return producer

        with asyncio.Runner() as runner:
            producer = _within(runner, make(), 10_000)
            try:
                yield runner, producer
            finally:
                _within(runner, producer.stop(), 10_000)

    @contextmanager
    def reader(self, way: Way, topic: str, group: str) -> Iterator[Reader]:
        times = {"session_timeout_ms": SESSION, "heartbeat_interval_ms": HEARTBEAT, "request_timeout_ms": DELIVERY}

        async def make() -> AIOKafkaConsumer:
            consumer = AIOKafkaConsumer(
                bootstrap_servers=way.bootstrap,
                group_id=group,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                **times,
                **SOON,
            )
            await consumer.start()
            return consumer

        with asyncio.Runner() as runner:
            consumer = _within(runner, make(), 10_000)
            try:
                reader = _Reader(runner, consumer)
                consumer.subscribe([topic], listener=reader)
                yield reader
            finally:
                _within(runner, consumer.stop(), 20_000)

    def seen(self, error: Exception) -> str:
        number = getattr(error, "errno", None)
        return ErrorCode(number).name if isinstance(number, int) and number >= 0 else type(error).__name__
