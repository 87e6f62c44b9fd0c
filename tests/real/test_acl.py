"""Real clients and a real broker without rules; Doorkeeper in between has the rules.

There are topics `orders`, `orders-eu` and `secrets`. Alice may use topics that begin with `orders`, and Bob nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from tests.acl.nodes import HOST, Node
from tests.real.jars import CHECKOUT
from tests.real.ports import free_block
from tests.real.process import Program
from tests.real.records import patiently

pytestmark = pytest.mark.real

START = 60.0
TOPICS = ("orders", "orders-eu", "secrets")
CONFIGURATION = """\
clusters:
  main: {{bootstrap: ["{host}:{broker}"]}}
listeners:
  clients:
    cluster: main
    bind: "{host}:{port}"
    sasl: {{mechanisms: [PLAIN], credentials: users.yaml}}
plugins:
  - acl: {{rules: acl.yaml}}
"""
RULES = """\
super_users: [User:admin]
acls:
  - {allow: User:alice, to: [Read, Write, Describe], topics: orders*, groups: alice*, transactional_ids: alice*}
"""
DENIED = KafkaError.TOPIC_AUTHORIZATION_FAILED


class Guarded:
    """Doorkeeper in front of a node."""

    def __init__(self, folder: Path, node: Node) -> None:
        self.folder = folder
        self.port = free_block(3, HOST)
        self.write(RULES)
        save(self.folder / "users.yaml", {name: verifiers("secret") for name in ("alice", "bob", "admin")})
        file = self.folder / "gateway.yaml"
        file.write_text(CONFIGURATION.format(host=HOST, broker=node.trusted, port=self.port))
        command = [sys.executable, "-m", "proxy", "run", str(file), "--log", "json", "--verbose"]
        log = self.folder / "doorkeeper.log"
        self.program = Program("doorkeeper", command, log, env={"PYTHONPATH": str(CHECKOUT)})

    def begin(self) -> None:
        """Wait until it serves, and create the topics."""
        self.program.expect("listening", str(self.port), within=START)
        admin = AdminClient(self.settings("admin"))
        for made in admin.create_topics([NewTopic(name, 2, 1) for name in TOPICS]).values():
            made.result(START)

    def write(self, rules: str) -> None:
        (self.folder / "acl.yaml").write_text(rules)

    def become(self, rules: str) -> None:
        """Put these rules in force."""
        before = self.program.output().count('"rules reloaded"')
        self.write(rules)
        for _ in patiently("the rules are read again"):
            if self.program.output().count('"rules reloaded"') > before:
                return

    def settings(self, user: str, **more: Any) -> dict[str, Any]:
        return {
            "bootstrap.servers": f"{HOST}:{self.port}",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": "secret",
            "log_level": 0,
        } | {name.replace("_", "."): value for name, value in more.items()}

    def produce(self, user: str, topic: str, *values: bytes, **more: Any) -> list[int | None]:
        """Produce these values, and give the error code of each."""
        outcomes: list[int | None] = []
        producer = Producer(self.settings(user, **more))
        for value in values:
            producer.produce(topic, value, on_delivery=lambda error, _: outcomes.append(error and error.code()))
        assert producer.flush(START) == 0
        return outcomes


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("acl")
    with Node(folder / "node", ["alice"]) as node:
        guarded = Guarded(folder, node)
        try:
            guarded.begin()
            yield guarded
        finally:
            guarded.program.stop()


@pytest.fixture
def consumer(guarded: Guarded, request: pytest.FixtureRequest) -> Iterator[Consumer]:
    """Alice's consumer, with the group protocol of the test."""
    protocol = getattr(request, "param", "classic")
    settings = guarded.settings("alice", group_id=f"alice-{request.node.name}", auto_offset_reset="earliest")
    consumer = Consumer(settings | {"group.protocol": protocol, "topic.metadata.refresh.interval.ms": 500})
    yield consumer
    consumer.close()


def taken(consumer: Consumer, count: int) -> tuple[list[bytes], set[int]]:
    """At least `count` values, and the errors that arrived with them."""
    values: list[bytes] = []
    errors: set[int] = set()
    for _ in patiently(f"{count} records"):
        message = consumer.poll(0.1)
        if message is None:
            continue
        if message.error():
            errors.add(message.error().code())
        else:
            values.append(message.value())
        if len(values) >= count:
            break
    return values, errors


def test_what_may_be_written_is_and_the_rest_is_refused(guarded: Guarded) -> None:
    assert guarded.produce("alice", "orders", b"1", b"2") == [None, None]
    assert guarded.produce("alice", "secrets", b"1", b"2") == [DENIED, DENIED]
    assert guarded.produce("bob", "orders", b"1") == [DENIED]
    assert guarded.produce("admin", "secrets", b"s") == [None]


def test_an_idempotent_and_a_transactional_producer_work(guarded: Guarded) -> None:
    assert guarded.produce("alice", "orders-eu", b"i", enable_idempotence=True) == [None]
    producer = Producer(guarded.settings("alice", transactional_id="alice-tx"))
    producer.init_transactions(START)
    producer.begin_transaction()
    producer.produce("orders-eu", b"t")
    producer.commit_transaction(START)
    theirs = Producer(guarded.settings("alice", transactional_id="theirs"))
    with pytest.raises(KafkaException) as refused:
        theirs.init_transactions(START)
    assert refused.value.args[0].code() == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@pytest.mark.parametrize("consumer", ["classic", "consumer"], indirect=True)
def test_a_consumer_reads_what_it_may(guarded: Guarded, consumer: Consumer) -> None:
    sent = [b"all %d" % number for number in range(50)]
    guarded.produce("alice", "orders", *sent)
    consumer.subscribe(["orders"])
    missing = set(sent)
    for _ in patiently("all records"):
        values, errors = taken(consumer, 1)
        assert not errors
        missing -= set(values)
        if not missing:
            break


def test_a_refused_topic_is_an_error_beside_records_of_the_others(guarded: Guarded, consumer: Consumer) -> None:
    guarded.produce("alice", "orders", b"beside")
    consumer.subscribe(["orders", "secrets"])
    errors: set[int] = set()
    values: list[bytes] = []
    for _ in patiently("records and an error"):
        more, told = taken(consumer, 1)
        values += more
        errors |= told
        if errors and values:
            break
    assert errors == {DENIED}
    assert b"s" not in values


@pytest.mark.parametrize("consumer", ["classic", "consumer"], indirect=True)
def test_an_expression_means_what_may_be_seen(guarded: Guarded, consumer: Consumer) -> None:
    guarded.produce("alice", "orders", b"o")
    guarded.produce("alice", "orders-eu", b"e")
    consumer.subscribe(["^.*r.*"])
    for _ in patiently("partitions of both"):
        consumer.poll(0.1)
        if {each.topic for each in consumer.assignment()} == {"orders", "orders-eu"}:
            break
    values, errors = taken(consumer, 2)
    assert b"s" not in values
    assert not errors


def test_who_lists_topics_sees_its_own(guarded: Guarded) -> None:
    topics = AdminClient(guarded.settings("alice")).list_topics(timeout=START).topics
    assert set(topics) == {"orders", "orders-eu"}
    assert set(AdminClient(guarded.settings("bob")).list_topics(timeout=START).topics) == set()


def test_a_right_that_is_taken_away_ends_at_once_on_open_connections_and_comes_back(
    guarded: Guarded, consumer: Consumer
) -> None:
    consumer.subscribe(["orders"])
    guarded.produce("alice", "orders", b"before")
    values, _ = taken(consumer, 1)
    assert values
    guarded.become("super_users: [User:admin]")
    assert guarded.produce("admin", "orders", b"after") == [None]
    for _ in patiently("an error"):
        message = consumer.poll(0.1)
        if message is not None and message.error():
            assert message.error().code() in (DENIED, KafkaError.GROUP_AUTHORIZATION_FAILED)
            break
        assert message is None or message.value() != b"after"
    guarded.become(RULES)
    assert guarded.produce("alice", "orders", b"again") == [None]
    # Until then the client may be giving its partitions back, and closing it would hang (librdkafka issue 4884).
    for _ in patiently("a record"):
        message = consumer.poll(0.1)
        if message is not None and not message.error() and message.value() == b"again":
            break


def test_refusals_are_in_the_log(guarded: Guarded) -> None:
    guarded.produce("bob", "orders", b"1")
    guarded.program.expect('"denied"', '"api": "Metadata"', '"User:bob"', '"orders"', within=START)
