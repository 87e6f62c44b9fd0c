"""Faults on group members, transactional producers and connections, and how real clients recover."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from chaos.history import History
from chaos.notes import ClientHistory, NotedRead
from tests.real.doorkeeper import Doorkeeper
from tests.real.faulted import begun, messages, read, write
from tests.real.records import PATIENCE, patiently
from tests.real.topics import create, settings
from tests.real.way import Way

pytestmark = pytest.mark.real

JOINED = 40.0  # seconds until a member must have joined as often as wanted
SESSION = 6_000  # the session timeout in milliseconds, the least that the coordinator allows
BEAT = 200  # milliseconds between two heartbeats
STARVED = 2 * SESSION // BEAT  # heartbeats that the coordinator does not receive
FAULTS = [
    *(
        f"{{match: {{group: {kind}-{member}, api: {apis}}}, when: {when}, do: {kind}}}"
        for member in ("librdkafka", "aiokafka", "consumer")
        for kind, apis, when in (
            ("rebalance", "[Heartbeat, ConsumerGroupHeartbeat]", "{after: 2, times: 3}"),
            ("expel", "[Heartbeat, ConsumerGroupHeartbeat]", "{nth: 3}"),
            ("unstable", "[FindCoordinator, JoinGroup, SyncGroup, Heartbeat]", "{times: 4}"),
        )
    ),
    *(
        f"{{match: {{api: Heartbeat, group: starved-{member}}}, when: {{times: {STARVED}}}, do: lose}}"
        for member in ("librdkafka", "aiokafka")
    ),
    "{match: {api: OffsetCommit, group: committed-*}, when: {nth: 2}, do: expel}",
    "{name: stale, match: {api: Metadata, client_id: stale, topic: stale-*}, when: {times: 2}, do: stale}",
    "{name: zombie, match: {api: EndTxn, transactional_id: zombie-*}, when: {nth: 2}, do: fence}",
    "{name: lost, match: {api: Produce, topic: lost-*}, when: {nth: 2}, do: lose}",
    "{name: hole, match: {api: Produce, topic: hole-*}, when: {nth: 2}, do: {disconnect: {how: black_hole}}}",
    "{name: half, match: {api: Produce, topic: half-*}, when: {nth: 2}, do: {disconnect: {how: half_close}}}",
    "{name: hint, match: {api: Produce, topic: hint-*}, when: {nth: 2}, do: {hint: unknown}}",
    "{name: old-hint, match: {api: Produce, topic: old-hint-*}, when: {nth: 2}, do: {hint: older}}",
    "{name: doomed, match: {client_id: doomed}, do: {disconnect: {how: reset}}}",
    "{name: gone, match: {api: Metadata, client_id: halved}, do: {missing: {broker: 2}}}",
]


@pytest.fixture(scope="module")
def way(faulted: Doorkeeper) -> Way:
    return faulted.way


def librdkafka(
    way: Way, group: str, topic: str, joins: int, protocol: str = "classic", *, commits: bool = False
) -> int:
    """Consume until the member has joined this many times. Gives how often it did. `commits`: after each poll, too."""
    joined = 0

    def assigned(consumer: Consumer, partitions: object) -> None:
        nonlocal joined
        joined += 1

    session = {"heartbeat_interval_ms": BEAT, "session_timeout_ms": SESSION} if protocol == "classic" else {}
    consumer = Consumer(settings(way, group_id=group, group_protocol=protocol, **session))
    consumer.subscribe([topic], on_assign=assigned)
    until = threading.Event()
    timer = threading.Timer(JOINED, until.set)
    timer.start()
    try:
        while joined < joins and not until.is_set():
            consumer.poll(0.1)
            if commits and joined:
                consumer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=True)
    finally:
        timer.cancel()
        consumer.close()
    return joined


def aiokafka(way: Way, group: str, topic: str, joins: int) -> int:
    """The same with aiokafka."""

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        def __init__(self) -> None:
            self.joined, self.enough = 0, asyncio.Event()

        def on_partitions_revoked(self, revoked: object) -> None: ...

        def on_partitions_assigned(self, assigned: object) -> None:
            self.joined += 1
            if self.joined >= joins:
                self.enough.set()

    async def consume() -> int:
        session = {"heartbeat_interval_ms": BEAT, "session_timeout_ms": SESSION}
        session["enable_auto_commit"] = False  # commits keep a session alive, too
        consumer = AIOKafkaConsumer(bootstrap_servers=way.bootstrap, group_id=group, **session)
        listener = Listener()
        consumer.subscribe([topic], listener=listener)
        await consumer.start()
        try:
            await asyncio.wait_for(listener.enough.wait(), JOINED)
        finally:
            await consumer.stop()
        return listener.joined

    return asyncio.run(consume())


MEMBERS: list[Callable[..., int]] = [librdkafka, aiokafka]


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("kind", ["rebalance", "expel", "starved"])
def test_a_member_joins_again_and_the_group_goes_on(faulted: Doorkeeper, kind: str, member: Callable[..., int]) -> None:
    topic = create(faulted.way, f"{kind}-{member.__name__}", 1)
    assert member(faulted.way, f"{kind}-{member.__name__}", topic, 2) >= 2


@pytest.mark.parametrize("kind", ["rebalance", "expel"])
def test_a_member_of_a_consumer_group_that_is_fenced_joins_again(way: Way, kind: str) -> None:
    topic = create(way, f"{kind}-consumer", 1)
    assert librdkafka(way, f"{kind}-consumer", topic, 2, "consumer") >= 2


def test_a_member_of_a_consumer_group_that_is_expelled_at_its_commit_joins_again(way: Way) -> None:
    topic = create(way, "committed-consumer", 1)
    assert librdkafka(way, "committed-consumer", topic, 2, "consumer", commits=True) >= 2


@pytest.mark.parametrize("member", MEMBERS)
def test_a_member_finds_an_unstable_coordinator_in_the_end(way: Way, member: Callable[..., int]) -> None:
    topic = create(way, f"unstable-{member.__name__}", 1)
    assert member(way, f"unstable-{member.__name__}", topic, 1) >= 1


def transact(way: Way, topic: str, notes: ClientHistory) -> list[str]:
    """Up to three transactions, until one fails. Gives the names of its errors."""
    producer = Producer(settings(way, transactional_id=topic))
    producer.init_transactions(PATIENCE)
    for number in range(3):
        transaction = begun(producer, topic, number, notes)
        transaction.commits()
        try:
            producer.commit_transaction(PATIENCE)
        except KafkaException as error:
            transaction.aborted()
            return [error.args[0].name()]
        transaction.committed()
    return []


def test_a_zombie_is_fenced_and_its_transaction_is_not_there(way: Way) -> None:
    topic = create(way, "zombie-producer", 1)
    history = History()
    assert transact(way, topic, history.client("producer")) == ["_FENCED"]
    consumer = history.client("consumer")
    read(way, topic, consumer)
    history.assert_clean()
    assert [note.value for note in consumer.reads if isinstance(note, NotedRead)] == ["0"]


def test_a_write_that_was_lost_was_acknowledged(way: Way) -> None:
    topic = create(way, "lost-write", 1)
    assert write(way, topic, 3, acks="all") == [None, None, None]
    assert [message.value() for message in messages(way, topic)] == [b"0", b"2"]


@pytest.mark.parametrize("kind", ["hole", "half", "hint", "old-hint"])
def test_a_producer_asks_again_and_nothing_is_lost_or_doubled(faulted: Doorkeeper, kind: str) -> None:
    """After a black-holed connection, a half-closed one, and wrong leader hints."""
    topic = create(faulted.way, f"{kind}-producer", 1)
    history = History()
    told = write(faulted.way, topic, 3, history.client("producer"), enable_idempotence=True, socket_timeout_ms=2000)
    assert told == [None, None, None]
    read(faulted.way, topic, history.client("consumer"))
    history.assert_clean()
    faulted.program.expect("fault fired", f"fault={kind}", within=PATIENCE)


def test_one_client_is_cut_off_and_another_is_not(way: Way) -> None:
    topic = create(way, "per-client", 1)
    assert write(way, topic, 1, client_id="doomed", message_timeout_ms=1000) == ["_MSG_TIMED_OUT"]
    assert write(way, topic, 1, client_id="fine") == [None]


def test_what_changed_is_not_told_to_a_client_with_stale_metadata_for_a_while(faulted: Doorkeeper) -> None:
    way = faulted.way
    topic = create(way, "stale-metadata", 1)
    clients = {name: AdminClient(settings(way, client_id=name)) for name in ("stale", "fresh")}

    def partitions(client: str) -> int:
        return len(clients[client].list_topics(topic, timeout=PATIENCE).topics[topic].partitions)

    assert (partitions("stale"), partitions("fresh")) == (1, 1)
    clients["fresh"].create_partitions([NewPartitions(topic, 3)])[topic].result()
    for _ in patiently("all brokers know of the new partitions"):
        if partitions("fresh") == 3:
            break
        time.sleep(0.1)
    assert [partitions("stale") for _ in range(3)] == [1, 1, 3]


def test_a_broker_is_missing_for_one_client_alone(way: Way) -> None:
    brokers = [
        set(AdminClient(settings(way, client_id=it)).list_topics(timeout=30).brokers) for it in ("halved", "whole")
    ]
    assert brokers[1] - brokers[0] == {2}
