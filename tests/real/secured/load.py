"""Clients that write until they are told to stop, and that notice every connection that they lose."""

from __future__ import annotations

import threading
from types import TracebackType

from tests.real.java_clients import each
from tests.real.secured.clients import As, for_confluent, for_java, java
from tests.real.way import Way

LOSSES = ("connection-close-total", "failed-authentication-total", "failed-reauthentication-total")
PACE = 0.02  # seconds between two records


class Load(threading.Thread):
    """librdkafka; a context that stops it, and in which nothing may go wrong."""

    def __init__(self, who: As, topic: str) -> None:
        super().__init__(daemon=True)
        from confluent_kafka import Producer

        self.failed: list[str] = []
        self.count = 0
        self._topic = topic
        self._enough = threading.Event()
        more = {"error_cb": lambda error: self.failed.append(error.str()), "linger.ms": 1}
        self._producer = Producer(for_confluent(who) | more)

    def run(self) -> None:
        while not self._enough.is_set():
            self._producer.produce(self._topic, b"v", on_delivery=self._delivered)
            self.count += 1
            self._producer.poll(PACE)
        self._producer.flush(30)

    def _delivered(self, error: object, message: object) -> None:
        if error:
            self.failed.append(str(error))

    def __enter__(self) -> Load:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._enough.set()
        self.join()
        if kind is None:
            assert not self.failed, self.failed[:3]
            assert self.count, "nothing was sent"
            assert not len(self._producer), f"{len(self._producer)} records were not sent in the end"


class JavaLoad(threading.Thread):
    """Kafka's newest client, likewise."""

    def __init__(self, who: As, topic: str) -> None:
        super().__init__(daemon=True)
        self.failed: list[str] = []
        self.count = 0
        self._who, self._topic = who, topic
        self._enough = threading.Event()
        self.metrics: dict[str, float] = {}

    def run(self) -> None:
        clients = java("4.4.0")
        with clients.producer(Way("load", self._who.bootstrap, {}), linger_ms=0, **for_java(self._who)) as producer:
            while not self._enough.wait(PACE):
                try:
                    producer.send(clients.record(self._topic, b"v")).get()
                    self.count += 1
                except Exception as error:  # whatever a client may meet is what the test is about
                    self.failed.append(str(error))
            for entry in each(producer.metrics().entrySet()):
                if entry.getKey().group() == "producer-metrics":
                    self.metrics[entry.getKey().name()] = entry.getValue().metricValue()

    def __enter__(self) -> JavaLoad:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._enough.set()
        self.join()
        if kind is None:
            assert not self.failed, self.failed[:3]
            assert self.count, "nothing was sent"
            lost = {name: self.metrics[name] for name in LOSSES if self.metrics[name]}
            assert not lost, f"java: {lost}"
