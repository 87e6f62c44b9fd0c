"""Record batches: Kafka's own classes and kafka-python read this code's batches, and this code reads theirs."""

from __future__ import annotations

from typing import Any

import pytest
from kafka.record import MemoryRecords as PythonRecords
from kafka.record import MemoryRecordsBuilder as PythonBuilder

from proxy.protocol.problem import ProtocolError
from proxy.protocol.records import (
    CompressionType,
    ControlType,
    EndTxnMarker,
    Header,
    MessageSet,
    Record,
    RecordBatch,
    batches,
    rewrite_batch,
    write_batch,
)
from tests.proxy.protocol.oracles.kafka import Kafka, KafkaRefusedError
from tests.proxy.protocol.records.some import contents, only

RECORDS = [
    Record(b"key", b"value", timestamp=1_700_000_000_000),
    Record(None, None, timestamp=1_699_999_999_999),
    Record(b"", b"", (Header("", b""), Header("näme", None)), timestamp=1_700_000_100_000),
    Record(b"k" * 64, bytes(range(256)) * 300, (Header("h", b"x" * 200),), timestamp=0),
    *(Record(b"%d" % n, b"repeats " * n, timestamp=1_700_000_000_000 + n * 1000) for n in range(50)),
]
PRODUCER = {"producer_id": 1 << 40, "producer_epoch": 7, "base_sequence": 2_147_483_600}
CODECS = list(CompressionType)


def places(records: list[Record], base_offset: int) -> list[Record]:
    return [record._replace(offset=base_offset + n) for n, record in enumerate(records)]


def internal(kafka: Kafka) -> Any:
    return kafka.common.record.internal


def java_bytes(kafka: Kafka, buffer: Any) -> bytes | None:
    return None if buffer is None else bytes(kafka.common.utils.Utils.toArray(buffer))


def java_batch(kafka: Kafka, data: bytes) -> Any:
    (batch,) = internal(kafka).MemoryRecords.readableRecords(kafka.java.nio.ByteBuffer.wrap(data)).batches().iterator()
    return batch


def java_contents(kafka: Kafka, batch: Any) -> list[Record]:
    return [
        Record(
            java_bytes(kafka, record.key()),
            java_bytes(kafka, record.value()),
            tuple(Header(h.key(), None if h.value() is None else bytes(h.value())) for h in record.headers()),
            record.timestamp(),
            record.offset(),
        )
        for record in kafka.common.utils.Utils.toList(batch.iterator())  # py4j's own iteration hides exceptions
    ]


def java_written(kafka: Kafka, codec: CompressionType, magic: int = 2, log_append_time: bool = False) -> bytes:
    """RECORDS as Kafka's producer batches them, at offset 1000."""
    buffer = kafka.java.nio.ByteBuffer.allocate(1 << 18)
    types = kafka.common.record.TimestampType
    builder = internal(kafka).MemoryRecords.builder(
        buffer,
        magic,
        kafka.common.compress.Compression.of(codec.name.lower()).build(),
        types.LOG_APPEND_TIME if log_append_time else types.CREATE_TIME,
        1000,
        1_800_000_000_000 if log_append_time else -1,
        *(PRODUCER.values() if magic == 2 else (-1, -1, -1)),
        magic == 2,
        False,
        5,
    )
    to_header = kafka.common.header.internals.RecordHeader
    for record in RECORDS:
        headers = kafka.gateway.new_array(kafka.common.header.Header, len(record.headers) if magic == 2 else 0)
        for n in range(len(headers)):
            headers[n] = to_header(*record.headers[n])
        builder.append(record.timestamp, record.key, record.value, headers)
    return java_bytes(kafka, builder.build().buffer()) or b""


@pytest.mark.parametrize("codec", CODECS)
def test_kafka_reads_what_we_write(kafka: Kafka, codec: CompressionType) -> None:
    data = write_batch(RECORDS, base_offset=1000, compression=codec, transactional=True, **PRODUCER)
    batch = java_batch(kafka, data)
    batch.ensureValid()
    assert batch.compressionType().name() == codec.name
    assert (batch.producerId(), batch.producerEpoch(), batch.baseSequence()) == tuple(PRODUCER.values())
    assert (batch.baseOffset(), batch.lastOffset(), batch.countOrNull()) == (
        1000,
        1000 + len(RECORDS) - 1,
        len(RECORDS),
    )
    assert batch.maxTimestamp() == 1_700_000_100_000
    assert batch.isTransactional()
    assert java_contents(kafka, batch) == places(RECORDS, 1000)


@pytest.mark.parametrize("codec", CODECS)
def test_we_read_what_kafka_writes(kafka: Kafka, codec: CompressionType) -> None:
    batch = only(java_written(kafka, codec))
    assert batch.is_intact
    assert batch.is_transactional
    assert batch.compression_type is codec
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == tuple(PRODUCER.values())
    assert (batch.base_offset, batch.last_offset, batch.partition_leader_epoch) == (1000, 1000 + len(RECORDS) - 1, 5)
    assert contents(batch) == places(RECORDS, 1000)


def test_we_write_the_bytes_that_kafka_writes(kafka: Kafka) -> None:
    theirs = java_written(kafka, CompressionType.NONE)
    ours = write_batch(RECORDS, base_offset=1000, partition_leader_epoch=5, transactional=True, **PRODUCER)
    assert ours == theirs
    assert rewrite_batch(only(theirs), only(theirs).records()) == theirs


def test_log_append_time_is_read_as_kafka_reads_it(kafka: Kafka) -> None:
    batch = only(java_written(kafka, CompressionType.LZ4, log_append_time=True))
    assert batch.is_log_append_time
    assert {record.timestamp for record in batch.records()} == {1_800_000_000_000}


@pytest.mark.parametrize("magic", [0, 1])
def test_what_kafka_wrote_before_batches_passes_unread(kafka: Kafka, magic: int) -> None:
    old = java_written(kafka, CompressionType.GZIP, magic)
    new = java_written(kafka, CompressionType.NONE)
    first, second = batches(old + old + new[:-1], partial=True), batches(old + new)
    assert [bytes(part.data) for part in first] == [old + old]
    assert [(type(part), bytes(part.data)) for part in second] == [(MessageSet, old), (RecordBatch, new)]


@pytest.mark.parametrize("kind", [ControlType.ABORT, ControlType.COMMIT])
def test_transaction_markers_are_kafkas(kafka: Kafka, kind: ControlType) -> None:
    records = internal(kafka)
    marker = records.EndTransactionMarker(getattr(records.ControlRecordType, kind.name), 42)
    theirs = java_bytes(kafka, records.MemoryRecords.withEndTransactionMarker(9, 1000, 3, 77, 4, marker).buffer())
    assert theirs is not None
    batch = only(theirs)
    assert batch.is_control
    (record,) = batch.records()
    assert EndTxnMarker.read(record) == EndTxnMarker(kind, 42)
    assert theirs == write_batch(
        [EndTxnMarker(kind, 42).record(1000)],
        base_offset=9,
        partition_leader_epoch=3,
        producer_id=77,
        producer_epoch=4,
        transactional=True,
        control=True,
    )


@pytest.mark.parametrize("codec", CODECS)
def test_what_kafka_refuses_we_refuse_when_a_byte_of_a_record_is_wrong(kafka: Kafka, codec: CompressionType) -> None:
    """Not the checksum, which both only look at when asked: what the records themselves say.

    Names of headers are plain ASCII, since where UTF-8 breaks Kafka's reader has a U+FFFD, and we the bytes.
    """
    data = write_batch(
        [*RECORDS[:2], *RECORDS[4:10], Record(b"", b"", (Header("", b""), Header("name", None)))], compression=codec
    )
    refused = 0
    for place in range(57, len(data), 1 + len(data) // 100):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        try:
            theirs = java_contents(kafka, java_batch(kafka, bytes(changed)))
        except KafkaRefusedError:
            with pytest.raises(ProtocolError):
                contents(only(bytes(changed)))
            refused += 1
        else:
            assert contents(only(bytes(changed))) == theirs
    assert refused


@pytest.mark.parametrize("codec", [codec for codec in CODECS if codec is not CompressionType.SNAPPY])
def test_kafka_python_and_we_read_each_other(codec: CompressionType) -> None:
    """Snappy apart, for which kafka-python needs a library that we have no other use for."""
    builder = PythonBuilder(magic=2, compression_type=int(codec), batch_size=1 << 20)
    for record in RECORDS:
        builder.append(record.timestamp, record.key, record.value, [tuple(header) for header in record.headers])
    builder.close()
    theirs = bytes(builder.buffer())
    assert contents(only(theirs)) == places(RECORDS, 0)

    batch = PythonRecords(write_batch(RECORDS, compression=codec)).next_batch()
    assert batch is not None
    assert batch.validate_crc()
    assert [(r.offset, r.timestamp, r.key, r.value, r.headers) for r in batch] == [
        (r.offset, r.timestamp, r.key, r.value, [tuple(header) for header in r.headers]) for r in places(RECORDS, 0)
    ]
