"""confluent-kafka (librdkafka), direct and through Doorkeeper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.real.records import CODECS, PATIENCE, Record, digest, large_record, patiently, some_records
from tests.real.topics import create, create_led, settings
from tests.real.way import Way

pytestmark = pytest.mark.real

MB = 1024 * 1024


def produce(way: Way, topic: str, records: Iterable[Record], **more: Any) -> list[tuple[int | None, int | None]]:
    """Send all, and give the acknowledged partition and offset of each."""
    places: list[tuple[int | None, int | None]] = []
    failures: list[KafkaError] = []

    def acknowledged(error: KafkaError | None, message: Message) -> None:
        if error:
            failures.append(error)
        else:
            places.append((message.partition(), message.offset()))

    producer = Producer(settings(way, linger_ms=20, **more))
    for record in records:
        producer.produce(topic, record.value, record.key, headers=list(record.headers), on_delivery=acknowledged)
    assert producer.flush(PATIENCE) == 0
    assert not failures
    return sorted(places)


@contextmanager
def consuming(way: Way, group: str, topics: list[str], **more: Any) -> Iterator[Consumer]:
    consumer = Consumer(settings(way, group_id=way.unique(group), auto_offset_reset="earliest", **more))
    consumer.subscribe(topics)
    try:
        yield consumer
    finally:
        consumer.close()


def take(consumer: Consumer, count: int) -> list[Message]:
    """Consume this many messages, with no error among them."""
    messages: list[Message] = []
    for _ in patiently(f"{count} messages"):
        messages += consumer.consume(count - len(messages), 1.0)
        if len(messages) == count:
            break
    assert not [message.error() for message in messages if message.error()]
    return messages


def seen(message: Message) -> tuple[object, ...]:
    headers = tuple(message.headers() or ())
    return message.partition(), message.offset(), message.key(), digest(message.value()), headers


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_arrives_as_it_was_sent(way: Way, same: Callable[[object], None], codec: str) -> None:
    records = some_records(300)
    topic = create(way, f"rd-{codec}")
    places = produce(way, topic, records, compression_type=codec, partitioner="murmur2", enable_idempotence=True)
    with consuming(way, f"rd-{codec}", [topic]) as consumer:
        messages = take(consumer, len(records))
    keyed = [message for message in messages if message.key()]
    assert len(places) == len(records)
    sent = sorted((record.key, digest(record.value)) for record in records if record.key)
    assert sorted((message.key(), digest(message.value())) for message in keyed) == sent
    same(sorted(map(seen, keyed), key=repr))


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_kind_of_acknowledgement_works(way: Way, acks: str) -> None:
    topic = create_led(way, f"rd-acks-{acks}")
    produce(way, topic, some_records(100), acks=acks)
    with consuming(way, f"rd-acks-{acks}", [topic]) as consumer:
        assert [message.offset() for message in take(consumer, 101)] == list(range(101))


def test_ten_megabytes_in_one_message_pass(way: Way, same: Callable[[object], None]) -> None:
    topic = create(way, "rd-large", partitions=1, max_message_bytes=str(11 * MB))
    record = large_record(10 * MB)
    produce(way, topic, [record, record], message_max_bytes=11 * MB)
    with consuming(way, "rd-large", [topic], message_max_bytes=12 * MB, fetch_message_max_bytes=12 * MB) as consumer:
        messages = take(consumer, 2)
    assert [message.value() for message in messages] == [record.value] * 2
    same([seen(message) for message in messages])


def test_a_message_that_is_too_large_is_refused_by_the_broker(way: Way, same: Callable[[object], None]) -> None:
    topic = create(way, "rd-too-large", partitions=1)
    errors: list[str] = []
    producer = Producer(settings(way, message_max_bytes=11 * MB))
    producer.produce(topic, large_record(2 * MB).value, on_delivery=lambda error, _: errors.append(error.name()))
    assert producer.flush(PATIENCE) == 0
    assert errors == ["MSG_SIZE_TOO_LARGE"]
    same(errors)


def test_committed_transactions_are_read_and_aborted_ones_are_not(way: Way, same: Callable[[object], None]) -> None:
    topic = create(way, "rd-transactions")
    producer = Producer(settings(way, transactional_id=way.unique("rd-tx"), linger_ms=5))
    producer.init_transactions(PATIENCE)
    for number in range(6):
        producer.begin_transaction()
        for _ in range(20):
            producer.produce(topic, f"{'kept' if number % 2 else 'lost'} {number}", partition=number % 3)
        producer.flush(PATIENCE)
        if number % 2:
            producer.commit_transaction(PATIENCE)
        else:
            producer.abort_transaction(PATIENCE)

    def values(isolation: str, count: int) -> list[str]:
        with consuming(way, f"rd-tx-{isolation}", [topic], isolation_level=isolation) as consumer:
            return sorted(str(message.value()) for message in take(consumer, count))

    committed, everything = values("read_committed", 60), values("read_uncommitted", 120)
    assert not [value for value in committed if "lost" in value]
    same((committed, everything))


def test_offsets_committed_in_a_transaction_move_with_it(way: Way, same: Callable[[object], None]) -> None:
    source, target = create(way, "rd-eos-in", partitions=1), create(way, "rd-eos-out", partitions=1)
    produce(way, source, [Record(None, b"%d" % n) for n in range(30)])
    producer = Producer(settings(way, transactional_id=way.unique("rd-eos")))
    producer.init_transactions(PATIENCE)
    with consuming(way, "rd-eos", [source], enable_auto_commit=False) as consumer:
        for number in range(3):
            producer.begin_transaction()
            for message in take(consumer, 10):
                producer.produce(target, message.value())
            place = TopicPartition(source, 0, 10 * (number + 1))
            producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata(), PATIENCE)
            if number < 2:
                producer.commit_transaction(PATIENCE)
            else:
                producer.abort_transaction(PATIENCE)
        committed = consumer.committed([TopicPartition(source, 0)], PATIENCE)[0].offset
    with consuming(way, "rd-eos-out", [target], isolation_level="read_committed") as consumer:
        values = [message.value() for message in take(consumer, 20)]
    assert committed == 20
    same((committed, values))


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_come_and_go_and_share_the_partitions(way: Way, same: Callable[[object], None], protocol: str) -> None:
    topic = create(way, f"rd-group-{protocol}", partitions=6)
    produce(way, topic, some_records(60))
    more = {"group_protocol": protocol, "enable_auto_commit": False}
    if protocol == "classic":
        more |= {"heartbeat_interval_ms": 300, "partition_assignment_strategy": "cooperative-sticky"}
    sizes = []
    with consuming(way, f"rd-group-{protocol}", [topic], **more) as first:
        settle(first, sizes=[6])
        sizes.append(shares(first))
        with consuming(way, f"rd-group-{protocol}", [topic], **more) as second:
            settle(first, second, sizes=[3, 3])
            sizes.append(shares(first, second))
            held = [{place.partition for place in consumer.assignment()} for consumer in (first, second)]
            assert held[0] | held[1] == set(range(6))
        settle(first, sizes=[6])
        sizes.append(shares(first))
    same(sizes)


def shares(*consumers: Consumer) -> list[int]:
    return sorted(len(consumer.assignment()) for consumer in consumers)


def settle(*consumers: Consumer, sizes: list[int]) -> None:
    """Let the members poll until the partitions are assigned as wanted."""
    for _ in patiently(f"partitions shared as {sizes}"):
        for consumer in consumers:
            consumer.poll(0.1)
        if shares(*consumers) == sizes:
            break


def test_the_admin_client_does_its_work(way: Way, same: Callable[[object], None]) -> None:
    admin = AdminClient(settings(way))
    topic = create(way, "rd-admin", partitions=2, retention_ms="86400000")
    outcome: list[object] = []

    described = admin.describe_cluster(include_authorized_operations=True).result()
    outcome.append((described.cluster_id, sorted((n.id, way.plain(f"{n.host}:{n.port}")) for n in described.nodes)))
    resource = ConfigResource(ResourceType.TOPIC, topic)
    change = ConfigEntry("retention.ms", "3600000", incremental_operation=AlterConfigOpType.SET)
    resource.add_incremental_config(change)
    admin.incremental_alter_configs([resource])[resource].result()
    for _ in patiently("the change is seen by every broker"):
        configs = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic)])
        values = [{name: entry.value for name, entry in future.result().items()} for future in configs.values()]
        if values[0]["retention.ms"] == "3600000":
            break
    outcome += values

    admin.create_partitions([NewPartitions(topic, 5)], operation_timeout=30)[topic].result()
    produce(way, topic, some_records(50))
    for _ in patiently("five partitions"):
        admin.poll(0.1)
        if len(admin.list_topics(topic).topics[topic].partitions) == 5:
            break
    partitions = [TopicPartition(topic, n) for n in range(5)]
    latest = admin.list_offsets({place: OffsetSpec.latest() for place in partitions})
    assert sum(future.result().offset for future in latest.values()) == 50
    first = TopicPartition(topic, 0, latest[partitions[0]].result().offset)
    outcome.append(admin.delete_records([first])[first].result().low_watermark == first.offset)

    group = way.unique("rd-admin")
    with consuming(way, "rd-admin", [topic]) as consumer:
        take(consumer, 15)  # 19 are left if the producer still knew two partitions only
        consumer.commit(asynchronous=False)
        about = admin.describe_consumer_groups([group])[group].result()
        outcome.append((str(about.state), about.partition_assignor, len(about.members), about.members[0].host))
        outcome.append(way.plain(f"{about.coordinator.host}:{about.coordinator.port}").startswith("<broker"))
    listed = admin.list_consumer_groups().result()
    outcome.append([(g.group_id == group, str(g.state), str(g.type)) for g in listed.valid if g.group_id == group])
    admin.delete_consumer_groups([group])[group].result()
    admin.delete_topics([topic], operation_timeout=30)[topic].result()
    for _ in patiently("the topic is gone"):
        admin.poll(0.1)
        if topic not in admin.list_topics().topics:
            break
    same(outcome)


def test_admin_errors_are_the_brokers_own(way: Way, same: Callable[[object], None]) -> None:
    admin = AdminClient(settings(way))
    topic = create(way, "rd-errors", partitions=2)
    attempts = [
        admin.create_topics([NewTopic(topic, 1, 1)])[topic],
        admin.create_topics([NewTopic("not a name", 1, 1)])["not a name"],
        admin.create_topics([NewTopic(way.unique("rd-nine"), 1, 9)])[way.unique("rd-nine")],
        admin.create_partitions([NewPartitions(topic, 1)])[topic],
        admin.delete_topics([way.unique("rd-nowhere")])[way.unique("rd-nowhere")],
    ]
    errors = [attempt.exception() for attempt in attempts]
    same([way.plain(str(error)) for error in errors])
    assert all(errors), errors
