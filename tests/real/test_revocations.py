"""Rights are revoked while consumers poll: after a second no refused record arrives, and no other record is lost.

Rights change at random, several times a second, in every form that a rules file allows. At the end everything is
allowed, and every consumer must have every record of every topic, in order.

    DOORKEEPER_REVOCATIONS=1000    the number of revocations; 60 by default
"""

from __future__ import annotations

import os
import random
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
from tests.real.guarded import NODE, START, doorkeeper
from tests.real.polling import Arrival, Consumer, Librdkafka, Polling
from tests.real.records import patiently

pytestmark = pytest.mark.real
REVOCATIONS = int(os.environ.get("DOORKEEPER_REVOCATIONS", "60"))
TOPICS = [f"stream-{number}" for number in range(12)]
VERSIONS = (4, 11, 12, 13, 17)  # of Fetch: no sessions; sessions by names; the same in flexible form; by ids
SOON = 1.0  # seconds until a change must be in force
TURN = 0.3  # seconds between two changes
SEEN = 'acls:\n  - {allow: User:*, to: Describe, topics: "*", groups: "*"}\n'  # a topic is visible, refused or not


class Rights:
    """The rules file, and the times when each topic was refused."""

    def __init__(self, file: Path, dice: random.Random) -> None:
        self.file = file
        self.dice = dice
        self.refused: dict[str, float] = {}
        self.periods: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        self.revocations = 0

    def become(self, refused: set[str]) -> None:
        """Refuse exactly these topics."""
        fresh = self.file.with_suffix(".new")
        fresh.write_text(SEEN + self._said(refused))
        granted = time.monotonic()  # from this time on a record may arrive
        fresh.rename(self.file)
        revoked = time.monotonic()
        for topic in self.refused.keys() - refused:
            self.periods[topic].append((self.refused.pop(topic), granted))
        for topic in refused - self.refused.keys():
            self.refused[topic] = revoked
            self.revocations += 1

    def _said(self, refused: set[str]) -> str:
        """Rules that refuse these topics, in a random form."""
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
        """Refuse some more topics, and allow others again."""
        refused = {topic for topic in TOPICS if self.dice.random() < (0.85 if topic in self.refused else 0.08)}
        if refused != self.refused.keys():
            self.become(refused)

    def after(self, arrival: Arrival) -> float:
        """Seconds from the topic's refusal to this arrival; 0 where the topic was not refused then."""
        return max(
            (arrival.at - since for since, until in self.periods[arrival.topic] if since < arrival.at < until),
            default=0,
        )


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DenyingBroker]:
    with DenyingBroker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@contextmanager
def writing(broker: str) -> Iterator[dict[str, int]]:
    """Write records to every topic for this block. Afterwards the mapping has the number of records of each topic."""
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
    # The test could have failed: topics were refused for longer than SOON while consumers went on.
    assert sum(until - since > SOON + TURN for some in rights.periods.values() for since, until in some) > 10
