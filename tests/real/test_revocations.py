"""Rights that are taken away while consumers poll: within a second nothing of it arrives, and nothing else is lost.

What is allowed changes at random, several times a second, in every way in which a file of rules can say so. At the end
all is allowed, and every consumer must have every record of every topic, in order.

    DOORKEEPER_REVOCATIONS=1000    how many are tried; 60 without it
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.proxy.protocol.oracles.broker import HOST, DenyingBroker
from tests.real.jars import CHECKOUT
from tests.real.polling import Arrival, Consumer, Librdkafka, Polling
from tests.real.ports import free_block
from tests.real.process import Program
from tests.real.records import patiently

pytestmark = pytest.mark.real
REVOCATIONS = int(os.environ.get("DOORKEEPER_REVOCATIONS", "60"))
TOPICS = [f"stream-{number}" for number in range(12)]
VERSIONS = (4, 11, 12, 13, 17)  # of Fetch: without sessions; with, by names, flexible; by ids
SOON = 1.0  # seconds within which a change is in force
TURN = 0.3  # seconds between two changes
NODE = 1
START = 60.0
CONFIGURATION = """\
clusters: {{main: {{bootstrap: ["{host}:{broker}"]}}}}
listeners: {{clients: {{cluster: main, bind: "{host}:{port}"}}}}
workers: 2
plugins: [acl: {{rules: acl.yaml}}]
"""
SEEN = 'acls:\n  - {allow: User:*, to: Describe, topics: "*", groups: "*"}\n'  # refused or not, a topic is there


class Rights:
    """The file of rules, and since when each topic is refused."""

    def __init__(self, file: Path, dice: random.Random) -> None:
        self.file = file
        self.dice = dice
        self.refused: dict[str, float] = {}
        self.periods: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        self.revocations = 0

    def become(self, refused: set[str]) -> None:
        """Refuse these topics, and no others."""
        fresh = self.file.with_suffix(".new")
        fresh.write_text(SEEN + self._said(refused))
        granted = time.monotonic()  # from here on it may be read
        fresh.rename(self.file)
        revoked = time.monotonic()
        for topic in self.refused.keys() - refused:
            self.periods[topic].append((self.refused.pop(topic), granted))
        for topic in refused - self.refused.keys():
            self.refused[topic] = revoked
            self.revocations += 1

    def _said(self, refused: set[str]) -> str:
        """One of the ways to say so."""
        allowed = ", ".join(topic for topic in TOPICS if topic not in refused)
        everything = '  - {allow: User:*, to: Read, topics: "*"}\n'
        denied = f"  - {{deny: User:ANONYMOUS, to: Read, topics: [{', '.join(sorted(refused))}]}}\n"
        match self.dice.randrange(4) if refused and allowed else 0:
            case 0:
                return f"  - {{allow: User:ANONYMOUS, to: Read, topics: [{allowed}]}}\n" if allowed else ""
            case 1:
                return everything + denied
            case 2:
                return everything + denied.replace("to: Read", "to: All, from: 127.0.0.0/8")
            case _:
                prefixes = everything.replace('"*"', "stream-*").replace("to: Read", "to: [Read, Write]")
                return prefixes + denied.replace("User:ANONYMOUS", "User:*")

    def turn(self) -> None:
        """Some topics are refused, others allowed again."""
        refused = {topic for topic in TOPICS if self.dice.random() < (0.85 if topic in self.refused else 0.08)}
        if refused != self.refused.keys():
            self.become(refused)

    def after(self, arrival: Arrival) -> float:
        """Seconds since the topic was refused; 0 where it was not when that arrived."""
        return max(
            (arrival.at - since for since, until in self.periods[arrival.topic] if since < arrival.at < until),
            default=0,
        )


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DenyingBroker]:
    with DenyingBroker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@contextmanager
def doorkeeper(folder: Path, broker: int) -> Iterator[int]:
    """Doorkeeper before that port: its own."""
    port = free_block(2 + NODE, HOST)
    file = folder / "gateway.yaml"
    file.write_text(CONFIGURATION.format(host=HOST, broker=broker, port=port))
    command = [sys.executable, "-m", "proxy", "run", str(file), "--log", "text"]
    program = Program("doorkeeper", command, folder / "doorkeeper.log", env={"PYTHONPATH": str(CHECKOUT)})
    try:
        program.expect("listening", str(port), within=START)
        yield port
    finally:
        program.stop()


@contextmanager
def writing(broker: str) -> Iterator[dict[str, int]]:
    """Records are written to every topic all the time. Afterwards it is known how many there are of each."""
    admin = AdminClient({"bootstrap.servers": broker})
    for made in admin.create_topics([NewTopic(topic, 1, 1) for topic in TOPICS], operation_timeout=30).values():
        made.result()
    producer = Producer({"bootstrap.servers": broker, "linger.ms": 2})
    over = threading.Event()
    written: dict[str, int] = {}

    def write() -> None:
        number = 1
        while not over.wait(0.05):
            write_one(number)
            number += 1
        producer.flush()
        written.update(dict.fromkeys(TOPICS, number))

    def write_one(number: int) -> None:
        for topic in TOPICS:
            producer.produce(topic, b"%08d %s" % (number, topic.encode()))
        producer.poll(0)

    write_one(0)
    assert producer.flush(START) == 0, "every topic has a leader"
    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield written
    finally:
        over.set()
        writer.join()


def test_nothing_of_a_refused_topic_arrives_after_a_second_and_nothing_else_is_lost(
    broker: DenyingBroker, tmp_path: Path
) -> None:
    rights = Rights(tmp_path / "acl.yaml", random.Random(REVOCATIONS))
    rights.become(set())
    with doorkeeper(tmp_path, broker.trusted) as port:
        with writing(f"{HOST}:{broker.trusted}") as written:
            consumers: list[Consumer] = [
                *(Polling(HOST, port + 1 + NODE, version, TOPICS) for version in VERSIONS),
                Librdkafka(f"{HOST}:{port}", TOPICS),
            ]
            for consumer in consumers:
                consumer.start()
            paused = threading.Event()
            while rights.revocations < REVOCATIONS:
                rights.turn()
                paused.wait(TURN)
            rights.become(set())
        for _ in patiently("every consumer has every record"):
            if all(consumer.read == written or consumer.failed for consumer in consumers):
                break
            paused.wait(0.1)
        for consumer in consumers:
            consumer.stop()
    last = sorted((rights.after(arrival), str(consumer)) for consumer in consumers for arrival in consumer.arrivals)
    print(f"\n{rights.revocations} revocations; the last record came {last[-1][0]:.2f} s after one, to {last[-1][1]}")
    assert not [late for late in last if late[0] > SOON]
    assert all(consumer.refused for consumer in consumers)
    # The test would see it: while topics were refused for longer than that, the others went on.
    assert sum(until - since > SOON + TURN for some in rights.periods.values() for since, until in some) > 10
