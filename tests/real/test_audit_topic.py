"""The audit topic on a real cluster: it has the journal's events in order; failures to write it are reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from plugins.audit.contents import segment_lines
from plugins.audit.reports.pipeline.session import FEW_ROWS
from plugins.audit.segments import segments
from tests.real.cluster import Cluster
from tests.real.doorkeeper import Doorkeeper
from tests.real.jars import CHECKOUT, kafka_source

pytestmark = pytest.mark.real

SECONDS = 60.0
REPORTED = ("access", "completeness")  # `test_topic_store.py` compares all reports, without the command
PLUGIN = "plugins: [audit: {{journal: journal, topic: {{name: {topic}}}}}]\n"


def create(bootstrap: str, topic: str, **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})  # kept in a variable until the response has arrived
    admin.create_topics([NewTopic(topic, 3, 3, config=config)])[topic].result()


@contextmanager
def sending(cluster: Cluster, folder: Path, topic: str) -> Iterator[Doorkeeper]:
    folder.mkdir(exist_ok=True)
    with Doorkeeper(folder, cluster, PLUGIN.format(topic=topic)) as there:
        yield there


def produce(bootstrap: str, topic: str, many: int, value: bytes = b"v") -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "batch.num.messages": 1})
    for _ in range(many):
        producer.produce(topic, value)
    assert producer.flush(SECONDS) == 0


def journal(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in segments(folder / "journal") for line in segment_lines(path)]


def read(bootstrap: str, topic: str, enough: Callable[[list[Message]], bool]) -> list[Message]:
    """The messages of a topic, as soon as `enough` is true of them."""
    settings = {"bootstrap.servers": bootstrap, "group.id": f"of-{topic}", "auto.offset.reset": "earliest"}
    found: list[Message] = []
    deadline = time.monotonic() + SECONDS
    with closing(Consumer({**settings, "enable.auto.commit": False})) as consumer:
        consumer.subscribe([topic])
        while not enough(found):
            assert time.monotonic() < deadline, f"{len(found)} records are on {topic}"
            message = consumer.poll(1.0)
            if message is not None and not message.error():
                found.append(message)
    return found


def once(found: list[Message]) -> list[dict[str, Any]]:
    """The events, each once: one that was resent, for lack of a response before the proxy's end, has the same id."""
    events = [json.loads(message.value()) for message in found]
    return list({event["id"]: event for event in events}.values())


def is_closed(found: list[Message]) -> bool:
    return bool(found) and json.loads(found[-1].value())["type"] == "doorkeeper.audit.journal_closed"


def test_the_topic_has_what_the_journal_has_in_order(cluster: Cluster, tmp_path: Path) -> None:
    create(cluster.bootstrap, "audit-all")
    with sending(cluster, tmp_path, "audit-all") as there:
        produce(there.way.bootstrap, "orders-audited", 300)
    found = read(cluster.bootstrap, "audit-all", is_closed)
    events = once(found)
    assert [event["data"] for event in events] == journal(tmp_path)
    assert [event["id"].rpartition("/")[2] for event in events] == [str(n + 1) for n in range(len(events))]
    assert {(message.partition(), message.key()) for message in found} == {
        (found[0].partition(), events[0]["id"].rpartition("/")[0].encode())
    }
    assert found[0].headers() == [("content-type", b"application/cloudevents+json")]
    requests = [event for event in events if event["type"] == "doorkeeper.audit.request"]
    produced = [event["data"]["errors"] for event in requests if event["data"]["api"] == "Produce"]
    assert produced.count([]) == 300  # the others were refused by a broker that did not know of the topic yet
    assert "audit-all" not in json.dumps(requests)  # the proxy's own writes have no client


def test_a_client_that_reads_the_topic_is_audited_as_any(cluster: Cluster, tmp_path: Path) -> None:
    create(cluster.bootstrap, "audit-read")
    with sending(cluster, tmp_path, "audit-read") as there:
        read(there.way.bootstrap, "audit-read", lambda found: len(found) > 10)
    fetches = [event for event in journal(tmp_path) if event.get("api") == "Fetch"]
    assert any(one.get("name") == "audit-read" for event in fetches for one in event.get("resources", ()))


def test_a_topic_that_is_missing_is_one_line_until_somebody_makes_it(cluster: Cluster, tmp_path: Path) -> None:
    with sending(cluster, tmp_path, "audit-missing") as there:
        line = there.program.expect("audit topic cannot be written", within=SECONDS)
        produce(there.way.bootstrap, "orders-audited", 100)
        create(cluster.bootstrap, "audit-missing")
        there.program.expect("audit topic is written again", within=SECONDS)
    assert "topic audit-missing of cluster main: UNKNOWN_TOPIC_OR_PARTITION; create it" in line
    assert there.program.output().count("audit topic cannot be written") == 1
    events = once(read(cluster.bootstrap, "audit-missing", is_closed))
    assert [event["data"] for event in events] == journal(tmp_path)


def test_an_event_that_is_too_long_for_the_topic_is_missing_there_and_the_journal_says_so(
    cluster: Cluster, tmp_path: Path
) -> None:
    create(cluster.bootstrap, "audit-small", **{"max.message.bytes": "2500"})
    with sending(cluster, tmp_path, "audit-small") as there:
        admin = AdminClient({"bootstrap.servers": there.way.bootstrap})
        names = [sha256(b"%d" % number).hexdigest() for number in range(200)]  # incompressible
        admin.create_topics([NewTopic(name, 1, 1) for name in names], validate_only=True)[names[0]].result()
        line = there.program.expect("audit event too long for the topic", within=SECONDS)
    assert "MESSAGE_TOO_LARGE; raise its max.message.bytes" in line
    events = journal(tmp_path)
    sent = {
        json.loads(message.value())["data"]["sequence"] for message in read(cluster.bootstrap, "audit-small", is_closed)
    }
    missing = [event for event in events if event["sequence"] not in sent]
    assert [event["api"] for event in missing] == ["CreateTopics"]
    assert [event["lost"] for event in events if event["kind"] == "events_unsent"] == [1]


def test_brokers_that_go_away_and_come_back_cost_no_event(cluster: Cluster, tmp_path: Path) -> None:
    create(cluster.bootstrap, "audit-moved", **{"min.insync.replicas": "1"})
    with sending(cluster, tmp_path, "audit-moved") as there:
        produce(there.way.bootstrap, "orders-audited", 50)
        (first, *_) = read(cluster.bootstrap, "audit-moved", lambda found: len(found) > 50)
        leader = AdminClient({"bootstrap.servers": cluster.bootstrap}).list_topics("audit-moved").topics["audit-moved"]
        cluster.brokers[leader.partitions[first.partition()].leader].kill()
        produce(there.way.bootstrap, "orders-audited", 50)
        cluster.heal()
    events = once(read(cluster.bootstrap, "audit-moved", is_closed))
    assert [event["data"] for event in events] == journal(tmp_path)


def test_reports_of_the_topic_are_those_of_the_journal(cluster: Cluster, tmp_path: Path) -> None:
    create(cluster.bootstrap, "audit-reported")
    with sending(cluster, tmp_path, "audit-reported") as there:
        create(there.way.bootstrap, "orders-reported")
        produce(there.way.bootstrap, "orders-reported", 200)
        read(there.way.bootstrap, "orders-reported", lambda found: len(found) == 200)
    read(cluster.bootstrap, "audit-reported", is_closed)
    jars = ",".join(map(str, kafka_source()))
    topic = f"kafka://{cluster.bootstrap}/audit-reported"
    made = {}
    for name, arguments in (("journal", [str(tmp_path / "journal")]), ("topic", [topic, "--jars", jars])):
        out = tmp_path / f"of-{name}"
        chosen = [argument for report in REPORTED for argument in ("--only", report)]
        command = [sys.executable, "-m", "proxy", "report", *arguments, "--out", str(out), *chosen]
        subprocess.run(command, check=True, cwd=CHECKOUT, env=FEW_ROWS | os.environ, timeout=10 * SECONDS)
        made[name] = {report: (out / f"{report}.csv").read_bytes() for report in REPORTED}
    assert made["topic"] == made["journal"]
    assert b"orders-reported" in made["topic"]["access"]
    assert b"missing" not in made["topic"]["completeness"]
