"""A proxy with a journal, a ledger in front of it, and clients that write and read."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from plugins.audit.contents import segment_lines
from plugins.audit.segments import segments
from proxy.protocol.api import APIS
from tests.plugins.audit.ledger import Comparison, Event, LedgerRelay, compare
from tests.plugins.faults.kinds import fault_of, in_yaml, kinds
from tests.real.ports import free_block
from tests.real.process import Program

SECONDS = 60.0
IN_FLIGHT = 500  # requests on a connection; of more than 1,000 (`limits.in_flight`), the proxy reads no more
ADVERTISED, BOUND = "127.0.0.1", "127.0.0.2"
KEYS = {api.name: api.key for api in APIS.values()}
FILE = """\
clusters:
  main: {{bootstrap: ["{bootstrap}"]}}
listeners:
  clients: {{cluster: main, bind: "{bound}:{port}", advertise: {advertised}}}
workers: {workers}
limits: {{drain: 1s}}
plugins:
  - audit: {{journal: journal}}
{more}"""
SELDOM = {"Produce": 0.02, "Fetch": 0.1}  # probabilities for APIs with many requests
USUAL = 0.3
TIMES = 2  # that each fault fires
ROUNDS = 20  # in which all records are read


def every_kind_of_fault(seed: int) -> str:
    """A file with each kind of fault, at random."""
    rules = []
    for position, kind in enumerate(kinds()):
        fault = fault_of(kind)
        apis = () if fault.do.effect.of_connections else {api.name for api in fault.apis}
        probability = min((chance for api, chance in SELDOM.items() if api in apis), default=USUAL)
        when = f"{{probability: {probability}, times: {TIMES}}}"
        rules.append(f"  - {{name: {fault_name(position, kind)}, when: {when}, do: {in_yaml(kind)}}}\n")
    return f"seed: {seed}\nfaults:\n{''.join(rules)}"


def fault_name(position: int, kind: str) -> str:
    """What this file calls a fault."""
    return f"{position}-{kind.partition(':')[0]}"


class AuditedProxy:
    """A proxy with a journal in front of these brokers, and a ledger in front of that."""

    def __init__(self, folder: Path, brokers: Mapping[int, str], workers: int, more: str) -> None:
        self.journal = folder / "journal"
        self.port = free_block(2 + max(brokers), ADVERTISED, BOUND)
        self.settings = {
            "bootstrap.servers": f"{ADVERTISED}:{self.port}",
            "reconnect.backoff.ms": 10,
            "reconnect.backoff.max.ms": 50,
            "log_level": 0,
        }
        file = folder / "gateway.yaml"
        self.ledger = LedgerRelay(ADVERTISED, BOUND, [self.port, *(self.port + 1 + node for node in brokers)])
        file.write_text(
            FILE.format(
                bootstrap=next(iter(brokers.values())),
                bound=BOUND,
                port=self.port,
                advertised=ADVERTISED,
                workers=workers,
                more=more,
            )
        )
        self.program = Program("doorkeeper", [sys.executable, "-m", "proxy", "run", str(file)], folder / "log")
        self.program.expect('"ready"', within=SECONDS)

    def events(self) -> list[Event]:
        """Stop the proxy, and read its journal."""
        self.program.stop()
        return [json.loads(line) for path in segments(self.journal) for line in segment_lines(path)]

    def compared(self) -> Comparison:
        """Stop the proxy, and compare its journal with the ledger."""
        return compare(self.ledger.pages, self.events(), KEYS)


@contextmanager
def audited(folder: Path, brokers: Mapping[int, str], workers: int = 1, more: str = "") -> Iterator[AuditedProxy]:
    """Run a proxy with a journal and a ledger."""
    there = AuditedProxy(folder, brokers, workers, more)
    try:
        with there.ledger:
            yield there
    finally:
        there.program.stop()


def work(there: AuditedProxy, requests: int, *, without_answer: bool = False) -> None:
    """Clients write one record a request, and read all records; they retry failed requests.

    `without_answer`: some records are written with acks 0, which librdkafka's mock cluster answers wrongly.
    """
    patience = SECONDS + requests / 200
    # Requests that wait too long unread are given up by the client: then the ledger alone has them.
    settings = {**there.settings, "batch.num.messages": 1, "linger.ms": 0, "max.in.flight": IN_FLIGHT}
    producer = Producer({**settings, "retry.backoff.ms": 20})
    unsafe = Producer({**settings, "acks": 0})
    # A new group: an old one may wait 45 s for a member that left.
    group = f"readers-{there.port}"
    consumer = Consumer({**there.settings, "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    for number in range(requests):
        producer.produce("orders", b"%d" % number)
        if number % 20 == 0 and without_answer:
            unsafe.produce("measures", b"%d" % number)
        if number % 20 == 0:
            consumer.poll(0)
        producer.poll(0)
    assert producer.flush(patience) == 0
    assert unsafe.flush(patience) == 0
    read, deadline = 0, time.monotonic() + patience
    while read < requests and time.monotonic() < deadline:
        message = consumer.poll(1.0)
        read += message is not None and message.error() is None
    assert read >= requests
    consumer.close()


class EnduringReader:
    """A consumer of a group that is replaced if it cannot go on.

    It is never closed: after some faults librdkafka does not return from that.
    """

    def __init__(self, settings: Mapping[str, str | int]) -> None:
        self._settings = {
            **settings,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": 100,
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 100,
        }
        self._consumer = self._new()

    def _new(self) -> Consumer:
        consumer = Consumer(self._settings)
        consumer.subscribe(["orders"])
        return consumer

    def poll(self, seconds: float) -> bool:
        """Whether a record came within this time."""
        message = self._consumer.poll(seconds)
        error = message.error() if message else None
        if error is not None and error.fatal():
            self._consumer = self._new()
        return message is not None and error is None


def endure(there: AuditedProxy, requests: int) -> None:
    """Clients write, alone and in transactions, and read, whatever faults do to them. Nothing is expected of them."""
    settings = {**there.settings, "socket.timeout.ms": 1000, "batch.num.messages": 1, "linger.ms": 0}
    producer = Producer({**settings, "retry.backoff.ms": 20, "message.timeout.ms": 10_000})
    reader = EnduringReader({**settings, "group.id": f"enduring-{there.port}"})
    for number in range(requests):
        producer.produce("orders", b"%d" % number)
        producer.poll(0)
        if number % 10 == 0:
            reader.poll(0)
        if number % 100 == 0:
            transaction({**settings, "transactional.id": f"enduring-{there.port}"})
    producer.flush(SECONDS)
    while reader.poll(3.0):
        pass
    alone = Consumer({**settings, "group.id": "none", "enable.auto.commit": False})
    for _ in range(ROUNDS):  # all faults of Fetch need some requests
        alone.assign([TopicPartition("orders", partition, 0) for partition in range(3)])
        while alone.poll(0.2):
            pass


def transaction(settings: Mapping[str, str | int]) -> None:
    """Write two records in a transaction, which may fail."""
    producer = Producer(dict(settings))
    with suppress(KafkaException):
        producer.init_transactions(3)
        producer.begin_transaction()
        for number in range(2):
            producer.produce("orders", b"%d" % number)
        producer.commit_transaction(3)
