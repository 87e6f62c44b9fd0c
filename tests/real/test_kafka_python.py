"""kafka-python 3, direct and through Doorkeeper."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import pytest
from kafka import (
    ConsumerRebalanceListener,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    OffsetSpec,
    TopicPartition,
)
from kafka import codec as codecs
from kafka.admin import ConfigResource
from kafka.errors import KafkaError

from tests.real.records import CODECS, JOINING, PATIENCE, Record, digest, large_record, patiently, some_records
from tests.real.topics import create, create_led
from tests.real.way import Way

pytestmark = pytest.mark.real

MB = 1024 * 1024
SUPPORTED = [codec for codec in CODECS if codec == "none" or getattr(codecs, f"has_{codec}")()]
logging.getLogger("kafka").setLevel(logging.CRITICAL)


def produce(way: Way, topic: str, records: Iterable[Record], **more: Any) -> list[tuple[int, int]]:
    with closing(KafkaProducer(bootstrap_servers=way.bootstrap, linger_ms=20, **more)) as producer:
        sent = [producer.send(topic, value=r.value, key=r.key, headers=list(r.headers)) for r in records]
        producer.flush(PATIENCE)
        return sorted((future.get(PATIENCE).partition, future.get(PATIENCE).offset) for future in sent)


@contextmanager
def consuming(way: Way, group: str, topic: str, **more: Any) -> Iterator[KafkaConsumer]:
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=way.bootstrap,
        group_id=way.unique(group),
        auto_offset_reset="earliest",
        heartbeat_interval_ms=300,
        **more,
    )
    with closing(consumer):
        yield consumer


def take(consumer: KafkaConsumer, count: int) -> list[Any]:
    records: list[Any] = []
    for _ in patiently(f"{count} records"):
        for batch in consumer.poll(JOINING, max_records=count - len(records)).values():
            records += batch
        if len(records) == count:
            return records
    return records


def seen(record: Any) -> tuple[object, ...]:
    return record.partition, record.offset, record.key, digest(record.value), tuple(record.headers)


@pytest.mark.parametrize("codec", SUPPORTED)
def test_every_codec_arrives_as_it_was_sent(way: Way, same: Callable[[object], None], codec: str) -> None:
    records = some_records(300)
    topic = create(way, f"kp-{codec}")
    produce(way, topic, records, compression_type=None if codec == "none" else codec)
    with consuming(way, f"kp-{codec}", topic) as consumer:
        taken = take(consumer, len(records))
    keyed = [record for record in taken if record.key]
    sent = sorted((record.key, digest(record.value)) for record in records if record.key)
    assert sorted((record.key, digest(record.value)) for record in keyed) == sent
    same(sorted((record.partition, record.key, digest(record.value), str(record.headers)) for record in keyed))


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_every_kind_of_acknowledgement_works(way: Way, acks: int | str) -> None:
    topic = create_led(way, f"kp-acks-{acks}")
    produce(way, topic, some_records(100), acks=acks, enable_idempotence=acks == "all")
    with consuming(way, f"kp-acks-{acks}", topic) as consumer:
        assert [record.offset for record in take(consumer, 101)] == list(range(101))


def test_ten_megabytes_in_one_record_pass(way: Way, same: Callable[[object], None]) -> None:
    topic = create(way, "kp-large", partitions=1, max_message_bytes=str(11 * MB))
    record = large_record(10 * MB)
    produce(way, topic, [record, record], max_request_size=11 * MB)
    with consuming(way, "kp-large", topic, max_partition_fetch_bytes=12 * MB) as consumer:
        taken = take(consumer, 2)
    assert [record.value for record in taken] == [record.value] * 2
    same([seen(record) for record in taken])


def test_committed_transactions_are_read_and_aborted_ones_are_not(way: Way, same: Callable[[object], None]) -> None:
    topic = create(way, "kp-transactions", partitions=3)
    producer = KafkaProducer(bootstrap_servers=way.bootstrap, transactional_id=way.unique("kp-tx"))
    with closing(producer):
        producer.init_transactions()
        for number in range(4):
            producer.begin_transaction()
            for _ in range(15):
                producer.send(topic, value=b"%d" % number, partition=number % 3)
            producer.flush(PATIENCE)
            if number % 2:
                producer.commit_transaction()
            else:
                producer.abort_transaction()

    def values(isolation: str, count: int) -> list[bytes]:
        with consuming(way, f"kp-tx-{isolation}", topic, isolation_level=isolation) as consumer:
            return sorted(record.value for record in take(consumer, count))

    committed, everything = values("read_committed", 30), values("read_uncommitted", 60)
    assert committed == [b"1"] * 15 + [b"3"] * 15
    same((committed, everything))


def test_members_come_and_go_and_share_the_partitions(way: Way, same: Callable[[object], None]) -> None:
    topic = create(way, "kp-group", partitions=6)
    produce(way, topic, some_records(60))
    sizes = []
    with member(way, topic) as first:
        sizes.append(settle(first, sizes=[6]))
        with member(way, topic) as second:
            sizes.append(settle(first, second, sizes=[3, 3]))
            assert {place.partition for place in first.assignment() | second.assignment()} == set(range(6))
        sizes.append(settle(first, sizes=[6]))
    same(sizes)


class FromTheStart(ConsumerRebalanceListener):
    """Seeks new partitions to their start, so that there are records after each rebalance, which end a poll."""

    def __init__(self, consumer: KafkaConsumer) -> None:
        self.consumer = consumer

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        """There is no state to drop."""

    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        for place in assigned:
            self.consumer.seek(place, 0)


@contextmanager
def member(way: Way, topic: str) -> Iterator[KafkaConsumer]:
    with consuming(way, "kp-group", topic, enable_auto_commit=False) as consumer:
        consumer.subscribe([topic], listener=FromTheStart(consumer))
        yield consumer


def settle(*members: KafkaConsumer, sizes: list[int]) -> list[int]:
    """Let the members poll, each in its own thread, until the partitions are assigned as wanted."""

    def poll(member: KafkaConsumer) -> int:
        for _ in patiently(f"a member with one of {sizes} partitions"):
            member.poll(JOINING)
            if len(member.assignment()) in sizes:
                break
        return len(member.assignment())

    with ThreadPoolExecutor(len(members)) as threads:
        return sorted(threads.map(poll, members))


def test_the_admin_client_does_its_work(way: Way, same: Callable[[object], None]) -> None:
    topic, group = way.unique("kp-admin"), way.unique("kp-admin")
    outcome: list[object] = []
    with closing(KafkaAdminClient(bootstrap_servers=way.bootstrap)) as admin:
        cluster = admin.describe_cluster()
        outcome.append(sorted(way.plain(f"{b['host']}:{b['port']}") for b in cluster["brokers"]))
        features = admin.describe_features()
        outcome.append({name: (about["supported"], about.get("finalized")) for name, about in features.items()})
        quorum = admin.describe_metadata_quorum()
        outcome.append(sorted(str(key) for key in quorum))
        new = {topic: {"num_partitions": 2, "replication_factor": 3, "configs": {"retention.ms": "86400000"}}}
        admin.create_topics(new, wait_for_metadata=True)
        admin.alter_configs([ConfigResource("TOPIC", topic, {"retention.ms": "3600000"})])
        for _ in patiently("the change is seen by every broker"):
            configs = admin.describe_configs([ConfigResource("TOPIC", topic)])
            if "'retention.ms': {'value': '3600000'" in str(configs):
                break
        outcome.append(way.plain(str(configs)))
        admin.create_partitions({topic: 5})
        admin.wait_for_topics([topic])
        for _ in patiently("five partitions"):
            described = admin.describe_topics([topic])[0]
            if len(described["partitions"]) == 5:
                break
        outcome.append([len(p["replica_nodes"]) for p in described["partitions"]])
        produce(way, topic, some_records(50))
        places = [TopicPartition(topic, number) for number in range(5)]
        latest = admin.list_partition_offsets(dict.fromkeys(places, OffsetSpec.LATEST))
        outcome.append([latest[place].offset >= 0 for place in places])
        assert sum(found.offset for found in latest.values()) == 50
        admin.delete_records({places[0]: latest[places[0]].offset})
        with consuming(way, "kp-admin", topic) as consumer:
            take(consumer, 20)
            consumer.commit()
            about = admin.describe_groups([group])[group]
            outcome.append((about["group_state"], about["protocol_data"], len(about["members"])))
        outcome.append([g["group_state"] for g in admin.list_groups() if g["group_id"] == group])
        admin.alter_group_offsets(group, {places[1]: OffsetAndMetadata(1, "", -1)})
        outcome.append(admin.list_group_offsets({group: [places[1]]})[group][places[1]].offset)
        reassigned = admin.alter_partition_reassignments({places[0]: [1, 2]})
        outcome.append(way.plain(str(reassigned)))
        for _ in patiently("the reassignment is done"):
            if not admin.list_partition_reassignments():
                break
        admin.elect_leaders(0, {topic: [0, 1]})
        admin.delete_groups([group])
        admin.delete_topics([topic])
        for _ in patiently("the topic is gone"):
            if topic not in admin.list_topics():
                break
    same(outcome)


def test_admin_errors_are_the_brokers_own(way: Way, same: Callable[[object], None]) -> None:
    topic = create(way, "kp-errors")
    with closing(KafkaAdminClient(bootstrap_servers=way.bootstrap)) as admin:
        attempts: list[Callable[[], Any]] = [
            lambda: admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 1}}),
            lambda: admin.create_topics({"not a name": {"num_partitions": 1, "replication_factor": 1}}),
            lambda: admin.create_partitions({topic: 1}),
            lambda: admin.delete_topics([way.unique("kp-nowhere")]),
            lambda: admin.describe_acls(None),
        ]
        errors = []
        for attempt in attempts:
            try:
                attempt()
            except (KafkaError, ValueError, TypeError, AttributeError) as error:
                errors.append(type(error).__name__)
    assert "TopicAlreadyExistsError" in errors
    same(errors)
