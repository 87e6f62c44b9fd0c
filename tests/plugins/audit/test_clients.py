"""Real clients through a real proxy to a mock cluster: the journal has each of their requests exactly once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer

from plugins.audit.contents import segment_lines
from plugins.audit.pseudonyms import pseudonyms
from plugins.audit.search import EventFilter, search
from plugins.audit.segments import segments
from plugins.audit.signing import public_key
from plugins.audit.verify import verify
from proxy.cli.demo.stage import HOST, addresses
from tests.plugins.audit.declared import undeclared
from tests.real.ports import free_block
from tests.real.process import Program

SECONDS = 30.0
PASSWORD = "correct horse"
TWO_CLUSTERS = """\
clusters:
  a: {{bootstrap: ["{a}"]}}
  b: {{bootstrap: ["{b}"]}}
listeners:
  a: {{cluster: a, bind: "{host}:{ports[0]}"}}
  b: {{cluster: b, bind: "{host}:{ports[1]}"}}
plugins:
  - audit: {{journal: journal, segment: 64 KiB}}
"""
RECORDS = 3000
FILE = """\
clusters:
  main: {{bootstrap: ["{bootstrap}"]}}
listeners:
  clients:
    cluster: main
    bind: "{host}:{port}"
    sasl: {{mechanisms: [SCRAM-SHA-512], credentials: users.yaml}}
workers: 2
plugins:
  - audit: {{journal: journal, {options}}}
"""


class Journaled:
    """A proxy with a journal, and the clients' settings for it."""

    def __init__(self, folder: Path, cluster: Producer, options: str = "segment: 2 KiB") -> None:
        self.journal = folder / "journal"
        port = free_block(6, HOST)
        doorkeeper = [sys.executable, "-m", "proxy"]
        subprocess.run(
            [*doorkeeper, "users", "add", folder / "users.yaml", "alice"], input=PASSWORD, text=True, check=True
        )
        file = folder / "gateway.yaml"
        file.write_text(FILE.format(bootstrap=addresses(cluster)[1], host=HOST, port=port, options=options))
        self.program = Program("doorkeeper", [*doorkeeper, "run", str(file)], folder / "log")
        self.program.expect('"ready"', within=SECONDS)
        self.settings = {
            "bootstrap.servers": f"{HOST}:{port}",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "alice",
            "sasl.password": PASSWORD,
        }

    def workers(self) -> list[int]:
        """Their process ids."""
        found = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        return [pid for pid in found if parent(pid) == self.program.pid]

    def is_quiet(self) -> bool:
        """Is everybody gone?"""
        kinds = Counter(event["kind"] for event in self.events())
        return kinds["connection_opened"] == kinds["connection_closed"]

    def events(self) -> list[dict[str, Any]]:
        """All events, each chain in its order."""
        events = [json.loads(line) for path in segments(self.journal) for line in segment_lines(path)]
        assert not [problem for event in events for problem in undeclared(event)]
        return sorted(events, key=lambda event: (event["instance"], event["sequence"]))


def parent(pid: int) -> int | None:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return None


@pytest.fixture(scope="module")
def cluster() -> Producer:
    """librdkafka's mock cluster lives as long as this client."""
    return Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1, "log_level": 0})


@pytest.fixture(scope="module")
def journaled(tmp_path_factory: pytest.TempPathFactory, cluster: Producer) -> Iterator[Journaled]:
    there = Journaled(tmp_path_factory.mktemp("journaled"), cluster)
    yield there
    there.program.stop()


def produced(settings: dict[str, str], topic: str) -> Counter[tuple[int, int]]:
    """Where each record came to lie: partition, offset."""
    ledger: Counter[tuple[int, int]] = Counter()

    def delivered(error: KafkaError | None, message: Message) -> None:
        assert error is None
        ledger[message.partition() or 0, message.offset() or 0] += 1

    producer = Producer({**settings, "client.id": "ledger", "linger.ms": 2})
    for number in range(RECORDS):
        producer.produce(topic, b"payload %d" % number, on_delivery=delivered)
        producer.poll(0)
    assert producer.flush(SECONDS) == 0
    return ledger


def consumed(settings: dict[str, str], topic: str) -> Counter[tuple[int, int]]:
    """The same of what is read. Each topic has a group: a member that never said goodbye would keep others waiting."""
    group = f"readers-of-{topic}"
    consumer = Consumer({**settings, "group.id": group, "auto.offset.reset": "earliest", "client.id": "ledger"})
    consumer.subscribe([topic])
    ledger: Counter[tuple[int, int]] = Counter()
    while sum(ledger.values()) < RECORDS:
        message = consumer.poll(SECONDS)
        assert message is not None
        assert message.error() is None
        ledger[message.partition() or 0, message.offset() or 0] += 1
    consumer.close()
    return ledger


def touched(events: list[dict[str, Any]], api: str, topic: str) -> Counter[tuple[int, int]]:
    """What the journal says was written or read."""
    ledger: Counter[tuple[int, int]] = Counter()
    for event in events:
        for resource in event.get("resources", ()) if event.get("api") == api else ():
            if resource.get("name") == topic and "first_offset" in resource:
                assert resource["last_offset"] - resource["first_offset"] + 1 == resource["records"]
                for offset in range(resource["first_offset"], resource["last_offset"] + 1):
                    ledger[resource["partition"], offset] += 1
    return ledger


def test_the_journal_has_what_clients_did_and_each_request_once(journaled: Journaled) -> None:
    written, read = produced(journaled.settings, "orders"), consumed(journaled.settings, "orders")
    impostor = Producer({**journaled.settings, "sasl.password": "guessed", "log_level": 0})
    with pytest.raises(KafkaException):
        impostor.list_topics(timeout=2)
    del impostor
    deadline = time.monotonic() + SECONDS
    while not journaled.is_quiet() and time.monotonic() < deadline:
        time.sleep(0.05)
    events = journaled.events()
    assert touched(events, "Produce", "orders") == written
    assert set(touched(events, "Fetch", "orders")) == set(read)
    for event in events:
        if event["kind"] == "request" and event["api"] in ("Produce", "Fetch"):
            assert (event["principal"], event["client_id"], event["outcome"]) == ("User:alice", "ledger", "answered")
    by_connection: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        if "connection" in event:
            by_connection[event["instance"], event["connection"]].append(event)
    for told in by_connection.values():
        numbers = sorted(event["correlation_id"] for event in told if event["kind"] == "request")
        assert numbers == list(range(1, len(numbers) + 1))  # librdkafka counts the requests of a connection
        assert [told[0]["kind"], told[-1]["kind"]] == ["connection_opened", "connection_closed"]
    kinds = Counter(event["kind"] for event in events)
    assert kinds["connection_authenticated"] >= 2
    assert kinds["authentication_failed"] >= 1
    text = b"".join(line for path in segments(journaled.journal) for line in segment_lines(path))
    assert b"payload" not in text
    assert PASSWORD.encode() not in text
    verified = verify(journaled.journal, public_key(journaled.journal.with_name("journal.key")))
    assert not verified.remarks
    assert (verified.segments > 2, verified.open) == (True, 2)


def test_a_worker_that_is_killed_leaves_a_gap_that_is_told(journaled: Journaled) -> None:
    produced(journaled.settings, "orders")
    workers = journaled.workers()
    assert len(workers) == 2
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    journaled.program.expect("audit segment of a killed writer sealed", within=SECONDS)
    produced(journaled.settings, "orders")
    journaled.program.stop()
    verified = verify(journaled.journal, public_key(journaled.journal.with_name("journal.key")))
    assert [remark for remark in verified.remarks if not remark.gap] == []
    assert all("its writer was killed after it" in remark.what for remark in verified.remarks)
    assert len(verified.remarks) >= 2
    sequences = defaultdict(list)
    for event in journaled.events():
        sequences[event["instance"]].append(event["sequence"])
    assert len(sequences) > 2
    for each in sequences.values():
        assert each == list(range(1, len(each) + 1))


def test_a_proxy_that_is_stopped_while_a_worker_starts_leaves_no_segment_open(
    tmp_path: Path, cluster: Producer
) -> None:
    there = Journaled(tmp_path, cluster)
    try:
        for pid in there.workers():
            os.kill(pid, signal.SIGKILL)
        there.program.expect("audit segment of a killed writer sealed", within=SECONDS)  # by one that is still starting
    finally:
        there.program.stop()
    verified = verify(there.journal, public_key(tmp_path / "journal.key"))
    assert [remark for remark in verified.remarks if not remark.gap] == []
    assert verified.open == 0


def test_the_journals_of_two_clusters_are_written_by_one_process_at_the_same_time(
    tmp_path: Path, cluster: Producer
) -> None:
    other = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1, "log_level": 0})
    ports = [free_block(6, HOST) for _ in range(2)]
    file = tmp_path / "gateway.yaml"
    file.write_text(TWO_CLUSTERS.format(a=addresses(cluster)[1], b=addresses(other)[1], host=HOST, ports=ports))
    program = Program("doorkeeper", [sys.executable, "-m", "proxy", "run", str(file)], tmp_path / "log")
    try:
        program.expect('"ready"', within=SECONDS)
        # A request for each record: both journals have much to write.
        settings = [{"bootstrap.servers": f"{HOST}:{port}", "batch.num.messages": "1"} for port in ports]
        with ThreadPoolExecutor(2) as both:
            several = [[*both.map(produced, settings, ["orders", "payments"])] for _ in range(5)]
    finally:
        assert program.stop() == 0
    found = [*search(tmp_path / "journal", EventFilter(api="Produce"))]
    assert [touched(found, "Produce", topic) for topic in ("orders", "payments")] == [
        sum(written, Counter()) for written in zip(*several, strict=True)
    ]
    assert not verify(tmp_path / "journal").remarks


def test_names_that_are_redacted_are_nowhere_in_the_journal(tmp_path: Path, cluster: Producer) -> None:
    """Two workers, each with connections of its own, give the same names the same pseudonyms."""
    rules = "[{fields: [principal, client_id, topic, group], how: hash}, {fields: client_host, how: mask}]"
    there = Journaled(tmp_path, cluster, f"redact: {rules}")
    try:
        produced(there.settings, "patients")
        consumed(there.settings, "patients")
    finally:
        there.program.stop()
    text = b"".join(line for path in segments(there.journal) for line in segment_lines(path))
    for name in (b"alice", b"patients", b"readers", b"ledger", HOST.encode()):
        assert name not in text
    secret = pseudonyms(tmp_path / "journal.pseudonyms")
    events = there.events()
    assert touched(events, "Produce", secret.of("topic", "patients")).total() == RECORDS
    assert set(touched(events, "Fetch", secret.of("topic", "patients")))
    moved = [event for event in events if event["kind"] == "request" and event["api"] in ("Produce", "Fetch")]
    assert {event["principal"] for event in moved} == {f"User:{secret.of('principal', 'alice')}"}
    assert all({"client_host", "client_id", "principal"} <= set(event["redacted"]) for event in moved)
    assert {event["pseudonyms"] for event in events if event["kind"] == "segment_opened"} == {secret.id}
    assert not verify(there.journal, public_key(tmp_path / "journal.key")).remarks
