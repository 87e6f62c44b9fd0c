"""Clients that write until they are stopped, and that notice every lost connection."""

from __future__ import annotations

import threading
from abc import abstractmethod
from types import TracebackType
from typing import Any

from tests.real.java_clients import each
from tests.real.records import PATIENCE, patiently
from tests.real.secured.clients import As, for_confluent, for_java, java
from tests.real.way import Way

PACE = 0.02  # seconds between two records
PARTITIONS = 3  # each with another broker as leader
UNDER_WAY = 4 * PARTITIONS  # records after which a client is connected to every leader
LOSSES = ("connection-close-total", "failed-authentication-total", "failed-reauthentication-total")


class Writing(threading.Thread):
    """One writing client; a context during which it must have no error and lose nothing."""

    def __init__(self, who: As, topic: str) -> None:
        super().__init__(daemon=True)
        self.failed: list[str] = []
        self.count = 0  # acknowledged records
        self._who, self._topic = who, topic
        self._enough = threading.Event()
        self._under_way = threading.Event()

    @abstractmethod
    def run(self) -> None: ...

    @abstractmethod
    def lost(self) -> str:
        """A text about its losses; empty where there are none."""

    def _acknowledged(self) -> None:
        self.count += 1
        if self.count == UNDER_WAY:
            self._under_way.set()

    def __enter__(self) -> Writing:
        self.start()
        assert self._under_way.wait(PATIENCE), f"only {self.count} records were written; {self.failed[:3]}"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._enough.set()
        self.join()
        if kind is None:
            assert not self.failed, self.failed[:3]
            assert not self.lost(), self.lost()


class Load(Writing):
    """librdkafka."""

    def __init__(self, who: As, topic: str) -> None:
        super().__init__(who, topic)
        from confluent_kafka import Producer

        more = {"error_cb": lambda error: self.failed.append(error.str()), "linger.ms": 1}
        self._producer = Producer(for_confluent(who) | more)

    def run(self) -> None:
        while not self._enough.is_set():
            self._producer.produce(self._topic, b"v", on_delivery=self._delivered)
            self._producer.poll(PACE)
        self._producer.flush(30)

    def _delivered(self, error: object, message: object) -> None:
        if error:
            self.failed.append(str(error))
        else:
            self._acknowledged()

    def lost(self) -> str:
        """Records that were never sent."""
        return f"{len(self._producer)} records" if len(self._producer) else ""


class JavaLoad(Writing):
    """Kafka's newest client."""

    def __init__(self, who: As, topic: str) -> None:
        super().__init__(who, topic)
        self._metrics: dict[str, float] = {}
        self._producer: Any = None

    def run(self) -> None:
        clients = java("4.4.0")
        with clients.producer(Way("load", self._who.bootstrap, {}), linger_ms=0, **for_java(self._who)) as producer:
            self._producer = producer
            while not self._enough.wait(PACE):
                try:
                    producer.send(clients.record(self._topic, b"v", None, self.count % PARTITIONS)).get()
                except Exception as error:  # any error of the client is a failure of the test
                    self.failed.append(str(error))
                else:
                    self._acknowledged()
            self._metrics = self._measured()

    def _measured(self) -> dict[str, float]:
        """The client's own metrics, now."""
        return {
            entry.getKey().name(): entry.getValue().metricValue()
            for entry in each(self._producer.metrics().entrySet())
            if entry.getKey().group() == "producer-metrics"
        }

    def wait_renewed(self, times: int) -> None:
        """Wait until connections have re-authenticated this many times."""
        for _ in patiently(f"sessions are renewed {times} times", PATIENCE + 10 * times):
            if self._measured()["successful-reauthentication-total"] >= times:
                return

    def lost(self) -> str:
        """Connections that were lost."""
        return ", ".join(f"{name} {self._metrics[name]:g}" for name in LOSSES if self._metrics[name])
