"""Batches that faults changed, read by Kafka's own classes: damage that clients notice is an error, others are read."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.protocol.records import CompressionType
from tests.plugins.faults.changed import effect_of
from tests.plugins.faults.fetching import batch
from tests.proxy.protocol.oracles.kafka import Kafka, KafkaRefusedError
from tests.proxy.protocol.records.some import only

CODECS = [CompressionType.NONE, CompressionType.GZIP, CompressionType.ZSTD]


def read(kafka: Kafka, data: bytes) -> list[tuple[int, int, bytes]]:
    """Offsets, times and values of what Kafka's consumer would give. Raises KafkaRefusedError."""
    records = kafka.common.record.internal.MemoryRecords.readableRecords(kafka.java.nio.ByteBuffer.wrap(data))
    listed = kafka.common.utils.Utils.toList  # py4j's own iteration hides exceptions
    found: list[tuple[int, int, bytes]] = []
    for each in listed(records.batches().iterator()):
        each.ensureValid()
        for record in listed(each.iterator()):
            value = bytes(kafka.common.utils.Utils.toArray(record.value()))
            found.append((record.offset(), record.timestamp(), value))
    return found


def changed(do: str, codec: CompressionType) -> bytes:
    effect: Any = effect_of(do)
    return bytes(effect.changed(only(batch(5, b"a", b"b", compression=codec))))


@pytest.mark.real
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("what", ["checksum", "compression", "codec", "count", "magic"])
def test_kafka_notices_what_is_wrong_with_a_batch(kafka: Kafka, what: str, codec: CompressionType) -> None:
    with pytest.raises(KafkaRefusedError):
        read(kafka, changed(f"corrupt: {{what: {what}}}", codec))


@pytest.mark.real
@pytest.mark.parametrize("codec", CODECS)
def test_kafka_takes_a_longer_batch_for_one_that_breaks_off(kafka: Kafka, codec: CompressionType) -> None:
    assert read(kafka, changed("corrupt: {what: length}", codec)) == []


@pytest.mark.real
@pytest.mark.parametrize("codec", CODECS)
def test_kafka_reads_other_values_and_other_times(kafka: Kafka, codec: CompressionType) -> None:
    assert read(kafka, changed("corrupt: {what: value}", codec)) == [(5, 1_000_000, b"\x9e"), (6, 1_000_001, b"\x9d")]
    assert read(kafka, changed("timestamps: 10s", codec)) == [(5, 990_000, b"a"), (6, 990_001, b"b")]
