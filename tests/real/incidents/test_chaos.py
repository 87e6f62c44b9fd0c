"""Chaos: toxiproxy, killed brokers and faults at once, under an idempotent producer and a consumer of its records.

The checker of histories must find no anomaly: acknowledged records are there once, and in order. The short run is
always made; `-m long` runs a million records, and prints the time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from chaos.client import AdminClient
from chaos.history import History
from chaos.notes import ClientHistory, NotedSend
from chaos.toxiproxy import ToxiproxyServer
from tests.real.cluster import Cluster
from tests.real.doorkeeper import Doorkeeper
from tests.real.ports import free_port
from tests.real.topics import create, settings
from tests.real.toxics import running_toxiproxy
from tests.real.way import Way

pytestmark = pytest.mark.real

PARTITIONS = 6
TOPIC = "chaos"
BATCH = 200  # records in a request at most, so that there are many requests
WAITING = 20_000  # records in the producer's queue at most, so that none waits longer than a delivery may take
DELIVERY = 300.0  # seconds that the producer may take to deliver a record
BACK = 250  # milliseconds until it reconnects, at most: the default backoff soon grows to ten seconds
MOMENT = 2.0  # seconds that each trouble lasts
FAULTS = """\
seed: 7
faults:
  - {name: lost, match: {api: Produce, topic: chaos*}, when: {probability: 0.05}, do: {disconnect: after_broker}}
  - {name: moved, match: {api: Produce, topic: chaos*}, when: {probability: 0.05}, do: {error: NOT_LEADER_OR_FOLLOWER}}
  - name: unsure
    match: {api: Produce, topic: chaos*}
    when: {probability: 0.05}
    do: {error: {code: NOT_ENOUGH_REPLICAS_AFTER_APPEND, side: after_broker}}
  - {name: slow, match: {api: Produce}, when: {probability: 0.05}, do: {delay: {lognormal: {median: 20ms, sigma: 1}}}}
  - {name: cut, match: {api: [Produce, Fetch]}, when: {probability: 0.02}, do: {cut: 10}}
  - {name: reset, when: {probability: 0.2}, do: reset}
"""


class Trouble:
    """Troubles of the network and of brokers, beside the faults, one after the other."""

    def __init__(self, cluster: Cluster, toxiproxy: ToxiproxyServer) -> None:
        self._cluster, self._toxiproxy = cluster, toxiproxy
        self._wait = threading.Event().wait

    def kinds(self) -> list[Callable[[], None]]:
        """All troubles, each once."""
        toxics = [
            ("latency", {"latency": 50, "jitter": 50}),
            ("reset_peer", {"timeout": 0}),
            ("slicer", {"average_size": 512, "size_variation": 256, "delay": 100}),
            ("limit_data", {"bytes": 100_000}),
            ("timeout", {"timeout": 200}),
            ("bandwidth", {"rate": 1_000}),
        ]
        found: list[Callable[[], None]] = [lambda it=it: self._toxic(*it) for it in toxics]  # type: ignore[misc]
        return [*found, *(lambda node=node: self._kill(node) for node in self._cluster.brokers)]  # type: ignore[misc]

    def _toxic(self, kind: str, attributes: dict[str, int]) -> None:
        with self._toxiproxy.toxic(kind, **attributes):
            self._wait(MOMENT)

    def _kill(self, node: int) -> None:
        self._cluster.brokers[node].kill()
        self._wait(MOMENT)
        self._cluster.brokers[node].restart()


def produce(
    producer: Producer, topic: str, values: range, notes: ClientHistory, failed: list[tuple[int, KafkaError]]
) -> None:
    """Produce these values and note acknowledgements. `failed` collects the records that the producer gave up."""
    for value in values:
        sent = notes.send(topic, value)

        def told(error: KafkaError | None, message: Message, sent: NotedSend = sent, value: int = value) -> None:
            if error is None:
                sent.acknowledged(message.partition(), message.offset())
            else:
                failed.append((value, error))

        while True:
            try:
                producer.produce(topic, b"%d" % value, partition=value % PARTITIONS, on_delivery=told)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)


def consume(way: Way, topic: str, notes: ClientHistory) -> int:
    """Read all partitions to their ends. Gives the number of records."""
    consumer = Consumer(settings(way, group_id=topic, enable_partition_eof=True, isolation_level="read_committed"))
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    left, read = set(range(PARTITIONS)), 0
    try:
        while left:
            for message in consumer.consume(10_000, 1.0):
                if message.error() is None:
                    notes.read(topic, message.partition(), message.offset(), int(message.value()))
                    read += 1
                elif message.error().name() == "_PARTITION_EOF":
                    left.discard(message.partition())
    finally:
        consumer.close()
    return read


@pytest.fixture
def toxiproxy(cluster: Cluster) -> Iterator[ToxiproxyServer]:
    with running_toxiproxy() as server:
        yield server
    cluster.heal()


@pytest.mark.parametrize("records", [50_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_an_idempotent_producer_loses_and_doubles_nothing(
    cluster: Cluster, toxiproxy: ToxiproxyServer, tmp_path: Path, records: int
) -> None:
    (tmp_path / "faults.yaml").write_text(FAULTS)
    admin = f"127.0.0.1:{free_port('127.0.0.1')}"
    more = f"admin: {{bind: '{admin}'}}\nplugins: [faults: {{rules: faults.yaml}}]\n"
    via = toxiproxy.in_front_of(*(broker.address for broker in cluster.brokers.values()))
    with Doorkeeper(tmp_path, cluster, more, via) as doorkeeper:
        topic = create(cluster.way, f"{TOPIC}-{records}", PARTITIONS, min_insync_replicas="2")
        history, began = History(), time.monotonic()
        notes = history.client("producer")
        producer = Producer(
            settings(
                doorkeeper.way,
                enable_idempotence=True,
                # With more than one, librdkafka duplicates records: at OUT_OF_ORDER_SEQUENCE_NUMBER it begins another
                # epoch, also for partitions with requests in flight.
                # https://github.com/confluentinc/librdkafka/issues/4953
                max_in_flight_requests_per_connection=1,
                batch_num_messages=BATCH,
                queue_buffering_max_messages=WAITING,
                reconnect_backoff_max_ms=BACK,
                message_timeout_ms=int(DELIVERY * 1_000),
            )
        )
        troubles = Trouble(cluster, toxiproxy).kinds()
        share = -(-records // len(troubles))
        failed: list[tuple[int, KafkaError]] = []
        for number, trouble in enumerate(troubles):
            beside = threading.Thread(target=trouble)
            beside.start()
            produce(producer, topic, range(number * share, min((number + 1) * share, records)), notes, failed)
            beside.join()
        assert producer.flush(DELIVERY) == 0
        assert failed == []
        wrote = time.monotonic() - began
        read = consume(doorkeeper.way, topic, history.client("consumer"))
        fired = {fault.name: fault.fired for fault in AdminClient(f"http://{admin}").faults().faults}
    took = time.monotonic() - began
    history.assert_clean()
    checked = time.monotonic() - began - took
    print(f"\n{records:,} records written in {wrote:.0f} s, read after {took:.0f} s, checked in {checked:.0f} s")
    killed = len(cluster.brokers)
    print(f"{len(troubles)} troubles below Kafka, {killed} of them killed brokers; faults fired: {fired}")
    assert read == records
    assert all(fired.values()), fired
