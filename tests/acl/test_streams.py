"""Kafka Streams gets the same results behind Doorkeeper as at a broker with Kafka's own authorizer."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.acl.clients_java import JavaClient
from tests.acl.everybody import own
from tests.acl.names import Names
from tests.acl.nodes import HOST, PASSWORD
from tests.acl.side import Side
from tests.acl.sides import Sides
from tests.acl.streams import COUNTED, JOBS, Job
from tests.real.records import patiently
from tests.real.secured import clients as drivers
from tests.real.secured.clients import As

pytestmark = pytest.mark.real

RELEASE = "4.3.1"
SERDE = "org.apache.kafka.common.serialization.Serdes$ByteArraySerde"
IN_MEMORY = "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers"


class AtWork:
    """All applications on one side, running at once, each with a topic for its counts."""

    def __init__(self, side: Side, names: Names, folder: Path) -> None:
        self._names, self._folder = names, folder
        self._client = JavaClient(RELEASE, As(f"{HOST}:{side.port}", "PLAIN", names.wire("alice"), PASSWORD), names)
        self._java = self._client.java
        self._threads = ThreadPoolExecutor(len(JOBS))
        with self._java.producer(self._client.way, **self._client.settings) as producer:
            for _ in COUNTED:
                producer.send(self._java.record(names.wire("orders"), b"an order", b"counted")).get()
        self.came: dict[str, Future[object]] = {job.name: self._threads.submit(self._do, job) for job in JOBS}

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)

    def _do(self, job: Job) -> object:
        streams = self._java.jvm.org.apache.kafka.streams
        app = streams.KafkaStreams(self._topology(job), self._settings(job))
        try:
            app.start()
            return self._counts(app, job)
        finally:
            app.close(self._java.jvm.java.time.Duration.ofSeconds(20))

    def _topology(self, job: Job) -> Any:
        streams = self._java.jvm.org.apache.kafka.streams
        builder = streams.StreamsBuilder()
        counted = builder.stream(self._names.wire(job.source)).repartition().groupByKey().count()
        as_long = streams.kstream.Produced.valueSerde(
            self._java.jvm.org.apache.kafka.common.serialization.Serdes.Long()
        )
        counted.toStream().to(self._names.wire(f"counts-{job.app}"), as_long)
        return builder.build()

    def _settings(self, job: Job) -> Any:
        common = {
            "application.id": self._names.wire(job.app),
            "state.dir": self._folder / job.app,
            "default.key.serde": SERDE,
            "default.value.serde": SERDE,
            "dsl.store.suppliers.class": IN_MEMORY,
            "statestore.cache.max.bytes": 0,  # every count is written
            "replication.factor": 1,
        }
        return self._java.settings(self._client.way, self._client.settings | common | job.settings)

    def _counts(self, app: Any, job: Job) -> object:
        counts: list[int] = []
        with self._client.consuming(
            self._names.wire("readers"), [self._names.wire(f"counts-{job.app}")], assigned=True
        ) as poll:
            for _ in patiently(f"{job.name}: counts, or an error"):
                counts += [int.from_bytes(value, "big") for value in poll()]
                if counts == COUNTED:
                    return counts
                if app.state().name() == "ERROR":
                    return "ERROR"
        return counts


@pytest.fixture(scope="module")
def at_work(sides: Sides, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[AtWork]]:
    """The applications, on both sides."""
    with ExitStack() as stack:
        stack.callback(drivers.close)
        scenario, working = own("streams"), []
        for side in sides:
            working.append(AtWork(side, Names(scenario.number), tmp_path_factory.mktemp("streams")))
            stack.callback(working[-1].close)
        yield working


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_an_application_comes_to_the_same_on_both_sides(at_work: list[AtWork], job: Job) -> None:
    assert [each.came[job.name].result() for each in at_work] == [job.comes, job.comes]
