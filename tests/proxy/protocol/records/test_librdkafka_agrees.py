"""Record batches: librdkafka reads this code's batches, and this code reads librdkafka's, through its mock broker."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from proxy.protocol.codec import decode
from proxy.protocol.header import SIZE, read_response_header, request_frame
from proxy.protocol.messages.fetch import FetchRequest, FetchResponse
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.records import CompressionType, Header, Record, RecordBatch, batches, write_batch
from proxy.protocol.schema import Request, Response
from tests.proxy.protocol.records.some import contents

PATIENCE = 20  # seconds that anything may take
FETCH_VERSION, PRODUCE_VERSION = 11, 7
RECORDS = [
    Record(b"key", b"value", (Header("name", b"here"), Header("none", None)), 1_700_000_000_000, 0),
    Record(None, None, (), 1_700_000_000_001, 1),
    Record(b"", b"again and again " * 3000, (), 1_699_999_999_999, 2),
]

every_codec = pytest.mark.parametrize("codec", CompressionType)


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    """The address of a broker that librdkafka plays."""
    player = Producer({"test.mock.num.brokers": 1})
    (broker,) = player.list_topics(timeout=PATIENCE).brokers.values()
    yield f"{broker.host}:{broker.port}"
    player.flush(0)  # until here somebody holds it: the broker lives as long as it does


def ask(broker: str, request: Request, version: int) -> Response:
    """Send one request and read its answer."""
    host, _, port = broker.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(request_frame(request, version, 1, "test"))
        with connection.makefile("rb") as stream:
            frame = stream.read(SIZE.unpack(stream.read(SIZE.size))[0])
    _, offset = read_response_header(request.api, version, frame)
    return decode(request.api.response, version, frame[offset:])


@every_codec
def test_we_read_what_librdkafka_writes(broker: str, codec: CompressionType) -> None:
    topic = f"theirs-{codec.name}"
    producer = Producer(
        {"bootstrap.servers": broker, "compression.type": codec.name.lower(), "linger.ms": 10_000, "acks": "all"}
    )
    for record in RECORDS:
        producer.produce(topic, record.value, record.key, 0, timestamp=record.timestamp, headers=list(record.headers))
    assert producer.flush(PATIENCE) == 0

    read: list[Record] = []
    codecs = set()
    while len(read) < len(RECORDS):  # as a rule they are in one batch
        batch = fetched(broker, topic, len(read))
        read += contents(batch)
        codecs.add(batch.compression_type)
    assert read == RECORDS
    assert codecs | {CompressionType.NONE} == {codec, CompressionType.NONE}  # a batch that would not shrink is left so


def fetched(broker: str, topic: str, offset: int) -> RecordBatch:
    """The batch at this offset."""
    partition = FetchRequest.Topic.Partition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    topics = [FetchRequest.Topic(topic=topic, partitions=[partition])]
    answer = ask(broker, FetchRequest(max_wait_ms=100, min_bytes=1, topics=topics), FETCH_VERSION)
    assert isinstance(answer, FetchResponse)
    batch = next(iter(batches(answer.responses[0].partitions[0].records or b"", partial=True)))
    assert isinstance(batch, RecordBatch)
    assert batch.is_intact
    return batch


@every_codec
def test_librdkafka_reads_what_we_write(broker: str, codec: CompressionType) -> None:
    topic = f"ours-{codec.name}"
    Producer({"bootstrap.servers": broker}).list_topics(topic, timeout=PATIENCE)  # makes it
    partition = ProduceRequest.Topic.Partition(index=0, records=write_batch(RECORDS, compression=codec))
    request = ProduceRequest(
        acks=-1, timeout_ms=1000, topic_data=[ProduceRequest.Topic(name=topic, partition_data=[partition])]
    )
    answer = ask(broker, request, PRODUCE_VERSION)
    assert isinstance(answer, ProduceResponse)
    assert answer.responses[0].partition_responses[0].error_code == 0

    consumer = Consumer({"bootstrap.servers": broker, "group.id": "test", "check.crcs": True})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        got = consumer.consume(len(RECORDS), PATIENCE)
    finally:
        consumer.close()
    assert [message.error() for message in got] == [None] * len(RECORDS)
    assert [
        Record(
            message.key(),
            message.value(),
            tuple(Header(*header) for header in message.headers() or ()),
            message.timestamp()[1],
            message.offset(),
        )
        for message in got
    ] == RECORDS
