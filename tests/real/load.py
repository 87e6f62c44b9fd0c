"""Load: clients that send numbered records and read them back while brokers fail and recover.

An acknowledged record must be there in the end, once; a record without an acknowledgement may be there or not.
Records have keys: without keys a producer may stay with one partition for long.
"""

from __future__ import annotations

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError as AioError
from confluent_kafka import Consumer, KafkaException, Message, Producer
from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError
from py4j.protocol import Py4JJavaError

from tests.real.java_clients import JavaClients
from tests.real.records import PATIENCE, patiently
from tests.real.topics import settings
from tests.real.way import Way

BATCH = 20  # records sent together; the client then waits for all acknowledgements
RECOVERY = 90.0  # seconds until a client must have recovered; 5 to 15 is usual
# For idempotent producers: to a new partition, a 4.3 broker may reject the first request because the partition is not
# ready yet, and accept the second. It then rejects each retry of the first as out of order, until
# delivery.timeout.ms (KAFKA-15591).
ONE_BY_ONE = {"max_in_flight_requests_per_connection": 1}


class Client(ABC):
    """A producer and a consumer of one library. Each has its own thread."""

    def __init__(self, way: Way, topic: str) -> None:
        self.way = way
        self.topic = topic
        self.group = f"{topic}-readers"

    @abstractmethod
    def send(self, values: Iterable[bytes]) -> list[bytes]:
        """Send all values, and give the acknowledged ones."""

    @abstractmethod
    def receive(self) -> list[bytes]:
        """The values that arrive within half a second."""

    @abstractmethod
    def close_sender(self) -> None: ...

    @abstractmethod
    def close_receiver(self) -> None: ...


class Confluent(Client):
    def __init__(self, way: Way, topic: str) -> None:
        super().__init__(way, topic)
        fresh = {"topic_metadata_refresh_interval_ms": 1000}
        self.producer = Producer(settings(way, enable_idempotence=True, **ONE_BY_ONE, **fresh))
        reading = {"auto_offset_reset": "earliest", "session_timeout_ms": 6000}
        self.consumer = Consumer(settings(way, group_id=self.group, **reading, **fresh))
        self.consumer.subscribe([topic])

    def send(self, values: Iterable[bytes]) -> list[bytes]:
        acknowledged: list[bytes] = []

        def delivered(error: Any, message: Message) -> None:
            if not error:
                acknowledged.append(bytes(message.value() or b""))

        for value in values:
            self.producer.produce(self.topic, value, key=value, on_delivery=delivered)
        self.producer.flush(PATIENCE)
        return acknowledged

    def close_sender(self) -> None:
        self.producer.flush(PATIENCE)

    def receive(self) -> list[bytes]:
        try:
            messages = self.consumer.consume(500, 0.5)
        except KafkaException:  # a temporary error: the next call goes on
            return []
        return [bytes(message.value() or b"") for message in messages if not message.error()]

    def close_receiver(self) -> None:
        self.consumer.close()


class KafkaPython(Client):
    """kafka-python, whose consumer is replaced when it hangs, as an operator would restart it.

    kafka-python 3.0.12 sometimes hangs after a rebalance on a busy machine: it sends no more heartbeats, although
    each of its requests got a response.
    """

    SILENCE = 15.0  # seconds

    def __init__(self, way: Way, topic: str) -> None:
        super().__init__(way, topic)
        self.producer = KafkaProducer(bootstrap_servers=way.bootstrap, metadata_max_age_ms=1000)
        self._join()

    def _join(self) -> None:
        reading = {"auto_offset_reset": "earliest", "session_timeout_ms": 6000, "heartbeat_interval_ms": 1000}
        common = {"bootstrap_servers": self.way.bootstrap, "metadata_max_age_ms": 1000}
        self.consumer = KafkaConsumer(self.topic, group_id=self.group, **reading, **common)
        self.heard = time.monotonic()

    def send(self, values: Iterable[bytes]) -> list[bytes]:
        sent = [(value, self.producer.send(self.topic, value=value, key=value)) for value in values]
        acknowledged = []
        for value, future in sent:
            try:
                future.get(PATIENCE)
            except KafkaError:
                continue
            acknowledged.append(value)
        return acknowledged

    def receive(self) -> list[bytes]:
        try:
            batches = self.consumer.poll(500)
        except KafkaError:
            return []
        if batches:
            self.heard = time.monotonic()
        elif time.monotonic() - self.heard > self.SILENCE:
            self.consumer.close(autocommit=False, timeout_ms=5000)
            self._join()
        return [record.value for batch in batches.values() for record in batch]

    def close_sender(self) -> None:
        self.producer.close(5)

    def close_receiver(self) -> None:
        self.consumer.close()


class Aiokafka(Client):
    """aiokafka, with one event loop for each of the two threads."""

    def __init__(self, way: Way, topic: str) -> None:
        super().__init__(way, topic)
        self.sending, self.receiving = asyncio.Runner(), asyncio.Runner()
        self.producer: AIOKafkaProducer | None = None
        self.consumer: AIOKafkaConsumer | None = None
        self.common = {"bootstrap_servers": way.bootstrap, "metadata_max_age_ms": 1000}

    def send(self, values: Iterable[bytes]) -> list[bytes]:
        return self.sending.run(self._send(values))

    async def _send(self, values: Iterable[bytes]) -> list[bytes]:
        if not self.producer:
            self.producer = AIOKafkaProducer(enable_idempotence=True, **self.common)
            await self.producer.start()
        sent = [(value, await self.producer.send(self.topic, value, value)) for value in values]
        results = await asyncio.gather(*(future for _, future in sent), return_exceptions=True)
        return [
            value for (value, _), result in zip(sent, results, strict=True) if not isinstance(result, BaseException)
        ]

    def receive(self) -> list[bytes]:
        return self.receiving.run(self._receive())

    async def _receive(self) -> list[bytes]:
        if not self.consumer:
            reading = {"auto_offset_reset": "earliest", "session_timeout_ms": 6000, "heartbeat_interval_ms": 1000}
            self.consumer = AIOKafkaConsumer(self.topic, group_id=self.group, **reading, **self.common)
            await self.consumer.start()
        try:
            batches = await self.consumer.getmany(timeout_ms=500)
        except AioError:
            return []
        return [record.value for batch in batches.values() for record in batch]

    def close_sender(self) -> None:
        if self.producer:
            self.sending.run(self.producer.stop())
        self.sending.close()

    def close_receiver(self) -> None:
        if self.consumer:
            self.receiving.run(self.consumer.stop())
        self.receiving.close()


class Java(Client):
    """The newest Java clients, the consumer with the new group protocol."""

    def __init__(self, way: Way, topic: str, java: JavaClients) -> None:
        super().__init__(way, topic)
        self.java = java
        self._senders, self._receivers = ExitStack(), ExitStack()
        self.producer = self._senders.enter_context(java.producer(way, metadata_max_age_ms=1000, **ONE_BY_ONE))
        more: dict[str, Any] = {"group_protocol": "consumer", "metadata_max_age_ms": 1000}
        self.consumer = self._receivers.enter_context(java.consumer(way, self.group, topic, **more))

    def send(self, values: Iterable[bytes]) -> list[bytes]:
        sent = [(value, self.producer.send(self.java.record(self.topic, value, value))) for value in values]
        acknowledged = []
        for value, future in sent:
            try:
                future.get()
            except Py4JJavaError:
                continue
            acknowledged.append(value)
        return acknowledged

    def receive(self) -> list[bytes]:
        return [record.value() for record in self.java.poll(self.consumer, 500)]

    def close_sender(self) -> None:
        self._senders.close()

    def close_receiver(self) -> None:
        self._receivers.close()


class Load:
    """One client at work, from entering to leaving the context."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.acknowledged: list[bytes] = []
        self.received: Counter[bytes] = Counter()
        self._news = threading.Condition()
        self._enough = threading.Event()
        self._complete = threading.Event()
        self._failure: BaseException | None = None
        name = type(client).__name__
        self._threads = [
            threading.Thread(target=self._guard, args=[work], name=f"{name} {work.__name__}")
            for work in (self._send, self._receive)
        ]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._enough.set()
        self._complete.set()
        for thread in self._threads:
            thread.join(RECOVERY)

    def goes_on(self, batches: int = 5) -> None:
        """Wait until this many more batches are acknowledged."""
        before = len(self.acknowledged)
        wanted = before + batches * BATCH
        with self._news:
            done = self._news.wait_for(lambda: len(self.acknowledged) >= wanted or self._failure, RECOVERY)
        if self._failure:
            raise self._failure
        told = len(self.acknowledged) - before
        assert done, f"{self._threads[0].name}: {told} of {wanted - before} records acknowledged in {RECOVERY:.0f} s"

    def settles(self) -> None:
        """Stop sending, and wait until all acknowledged records are read."""
        self._enough.set()
        self._threads[0].join(RECOVERY)
        with self._news:
            read = self._news.wait_for(lambda: not self.missing() or self._failure, RECOVERY)
        if self._failure:
            raise self._failure
        assert read, f"{self._threads[1].name}: {len(self.missing())} acknowledged records not read"

    def missing(self) -> set[bytes]:
        return set(self.acknowledged) - set(self.received)

    def _guard(self, work: Any) -> None:
        try:
            work()
        except BaseException as failure:
            with self._news:
                self._failure = failure
                self._news.notify_all()

    def _send(self) -> None:
        number = 0
        while not self._enough.is_set():
            told = self.client.send([b"%08d" % (number + n) for n in range(BATCH)])
            number += BATCH
            with self._news:
                self.acknowledged += told
                self._news.notify_all()
        self.client.close_sender()

    def _receive(self) -> None:
        while not self._complete.is_set():
            values = self.client.receive()
            with self._news:
                self.received.update(values)
                self._news.notify_all()
        self.client.close_receiver()


def everything(way: Way, topic: str, least: int) -> Counter[bytes]:
    """Count the values of a topic with a new consumer, which waits for at least this many records."""
    reading = {"auto_offset_reset": "earliest", "enable_partition_eof": True, "enable_auto_commit": False}
    consumer = Consumer(settings(way, group_id=f"{topic}-auditor", **reading))
    consumer.subscribe([topic])
    found: Counter[bytes] = Counter()
    ended: set[int] = set()
    try:
        for _ in patiently(f"all of {topic}"):
            for message in consumer.consume(1000, 0.5):
                if message.error():
                    ended.add(message.partition() or 0)
                else:
                    found[bytes(message.value() or b"")] += 1
            if found.total() >= least and len(ended) >= len(consumer.assignment()) > 0:
                break
    finally:
        consumer.close()
    return found
