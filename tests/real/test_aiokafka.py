"""aiokafka, direct and through Doorkeeper. It runs on asyncio: each scenario is one `asyncio.run`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from tests.real.records import CODECS, Record, digest, large_record, patiently, some_records
from tests.real.topics import create, create_led
from tests.real.way import Way

pytestmark = pytest.mark.real

MB = 1024 * 1024
logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


def producer(way: Way, **more: Any) -> AIOKafkaProducer:
    return AIOKafkaProducer(bootstrap_servers=way.bootstrap, linger_ms=20, **more)


def consumer(way: Way, group: str, topic: str, **more: Any) -> AIOKafkaConsumer:
    more = {"auto_offset_reset": "earliest", "heartbeat_interval_ms": 300, **more}
    return AIOKafkaConsumer(topic, bootstrap_servers=way.bootstrap, group_id=way.unique(group), **more)


async def produce(way: Way, topic: str, records: Iterable[Record], **more: Any) -> None:
    async with producer(way, **more) as sending:
        sent = [await sending.send(topic, r.value, r.key, headers=list(r.headers)) for r in records]
        await asyncio.gather(*sent)


async def take(consuming: AIOKafkaConsumer, count: int) -> list[Any]:
    records: list[Any] = []
    for _ in patiently(f"{count} records"):
        for batch in (await consuming.getmany(timeout_ms=500, max_records=count - len(records))).values():
            records += batch
        if len(records) == count:
            return records
    return records


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_arrives_as_it_was_sent(way: Way, same: Callable[[object], None], codec: str) -> None:
    records = some_records(300)
    topic = create(way, f"aio-{codec}")

    async def scenario() -> list[Any]:
        kind = None if codec == "none" else codec
        await produce(way, topic, records, compression_type=kind, enable_idempotence=True)
        async with consumer(way, f"aio-{codec}", topic) as consuming:
            return await take(consuming, len(records))

    keyed = [record for record in asyncio.run(scenario()) if record.key]
    sent = sorted((record.key, digest(record.value)) for record in records if record.key)
    assert sorted((record.key, digest(record.value)) for record in keyed) == sent
    same(sorted((record.partition, record.key, digest(record.value), str(record.headers)) for record in keyed))


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_every_kind_of_acknowledgement_works(way: Way, acks: int | str) -> None:
    topic = create_led(way, f"aio-acks-{acks}")

    async def scenario() -> list[Any]:
        await produce(way, topic, some_records(100), acks=acks)
        async with consumer(way, f"aio-acks-{acks}", topic) as consuming:
            return await take(consuming, 101)

    assert [record.offset for record in asyncio.run(scenario())] == list(range(101))


def test_ten_megabytes_in_one_record_pass(way: Way, same: Callable[[object], None]) -> None:
    topic = create(way, "aio-large", partitions=1, max_message_bytes=str(11 * MB))
    record = large_record(10 * MB)

    async def scenario() -> list[Any]:
        await produce(way, topic, [record, record], max_request_size=11 * MB)
        async with consumer(way, "aio-large", topic, max_partition_fetch_bytes=12 * MB) as consuming:
            return await take(consuming, 2)

    taken = asyncio.run(scenario())
    assert [record.value for record in taken] == [record.value] * 2
    same([(record.offset, digest(record.value)) for record in taken])


def test_committed_transactions_are_read_and_aborted_ones_are_not(way: Way, same: Callable[[object], None]) -> None:
    topic = create(way, "aio-transactions")

    async def values(isolation: str, count: int) -> list[bytes]:
        async with consumer(way, f"aio-tx-{isolation}", topic, isolation_level=isolation) as consuming:
            return sorted(record.value for record in await take(consuming, count))

    async def scenario() -> tuple[list[bytes], list[bytes]]:
        async with producer(way, transactional_id=way.unique("aio-tx")) as sending:
            for number in range(4):
                await sending.begin_transaction()
                for _ in range(15):
                    await sending.send(topic, b"%d" % number, partition=number % 3)
                await sending.flush()
                if number % 2:
                    await sending.commit_transaction()
                else:
                    await sending.abort_transaction()
        return await values("read_committed", 30), await values("read_uncommitted", 60)

    committed, everything = asyncio.run(scenario())
    assert committed == [b"1"] * 15 + [b"3"] * 15
    same((committed, everything))


def test_members_come_and_go_and_share_the_partitions(way: Way, same: Callable[[object], None]) -> None:
    topic = create(way, "aio-group", partitions=6)

    async def settle(*consumers: AIOKafkaConsumer, sizes: list[int]) -> list[int]:
        for _ in patiently(f"partitions shared as {sizes}"):
            await asyncio.gather(*(member.getmany(timeout_ms=100) for member in consumers))
            if sorted(len(member.assignment()) for member in consumers) == sizes:
                break
        return sizes

    async def scenario() -> list[list[int]]:
        await produce(way, topic, some_records(60))
        sizes = []
        async with consumer(way, "aio-group", topic) as first:
            sizes.append(await settle(first, sizes=[6]))
            async with consumer(way, "aio-group", topic) as second:
                sizes.append(await settle(first, second, sizes=[3, 3]))
                assert {place.partition for place in first.assignment() | second.assignment()} == set(range(6))
            sizes.append(await settle(first, sizes=[6]))
        return sizes

    same(asyncio.run(scenario()))


def test_the_admin_client_does_its_work(way: Way, same: Callable[[object], None]) -> None:
    topic, group = way.unique("aio-admin"), way.unique("aio-admin")

    async def scenario() -> list[object]:
        outcome: list[object] = []
        admin = AIOKafkaAdminClient(bootstrap_servers=way.bootstrap)
        await admin.start()
        try:
            cluster = await admin.describe_cluster()
            outcome.append(sorted(way.plain(f"{b['host']}:{b['port']}") for b in cluster["brokers"]))
            await admin.create_topics([NewTopic(topic, 2, 3)])
            await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": "3600000"})])
            for _ in patiently("the change is seen by every broker"):
                configs = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
                if "'retention.ms', '3600000'" in str([response.resources for response in configs]):
                    break
            outcome.append(way.plain(str([response.resources for response in configs])))
            await admin.create_partitions({topic: NewPartitions(5)})
            for _ in patiently("five partitions"):
                described = (await admin.describe_topics([topic]))[0]
                if len(described["partitions"]) == 5:
                    break
            outcome.append([len(p["replicas"]) for p in described["partitions"]])
            await produce(way, topic, some_records(50), acks="all")
            async with consumer(way, "aio-admin", topic) as consuming:
                await take(consuming, 20)
                await consuming.commit()
                ends = await consuming.end_offsets([TopicPartition(topic, n) for n in range(5)])
                about = (await admin.describe_consumer_groups([group]))[0]
                outcome += [sum(ends.values()), about.groups[0][2], len(about.groups[0][5])]
            offsets = await admin.list_consumer_group_offsets(group)
            outcome.append(sum(found.offset for found in offsets.values()))
            outcome.append([found for found in await admin.list_consumer_groups() if found[0] == group] != [])
            await admin.delete_topics([topic])
            for _ in patiently("the topic is gone"):
                if topic not in await admin.list_topics():
                    break
        finally:
            await admin.close()
        return outcome

    same(asyncio.run(scenario()))
