"""A proxy with a journal, a ledger in front of it, and clients that write and read."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, Producer

from plugins.audit.contents import segment_lines
from plugins.audit.segments import segments
from proxy.protocol.api import APIS
from tests.plugins.audit.ledger import Comparison, LedgerRelay, compare
from tests.real.ports import free_block
from tests.real.process import Program

SECONDS = 60.0
ADVERTISED, BOUND = "127.0.0.1", "127.0.0.2"
KEYS = {api.name: api.key for api in APIS.values()}
FILE = """\
clusters:
  main: {{bootstrap: ["{bootstrap}"]}}
listeners:
  clients: {{cluster: main, bind: "{bound}:{port}", advertise: {advertised}}}
workers: {workers}
plugins:
  - audit: {{journal: journal}}
{more}"""
FAULTS = """\
seed: 7
faults:
  - {name: slow, match: {api: [Produce, Fetch, Metadata]}, when: {probability: 0.02}, do: {delay: 5ms}}
  - {name: no, match: {api: Produce}, when: {probability: 0.02}, do: {error: NOT_ENOUGH_REPLICAS}}
  - {name: gone, match: {api: [Produce, Fetch]}, when: {probability: 0.005}, do: {disconnect: before_broker}}
  - {name: lost-ack, match: {api: Produce}, when: {probability: 0.005}, do: {disconnect: after_broker}}
  - {name: busy, match: {api: Fetch}, when: {probability: 0.02}, do: {throttle: 10ms}}
  - {name: nothing, match: {api: Fetch}, when: {probability: 0.02}, do: empty}
"""


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

    def compared(self) -> Comparison:
        """Stop the proxy, and compare its journal with the ledger."""
        self.program.stop()
        lines = (line for path in segments(self.journal) for line in segment_lines(path))
        return compare(self.ledger.pages, map(json.loads, lines), KEYS)


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
    settings = {**there.settings, "batch.num.messages": 1, "linger.ms": 0}
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
