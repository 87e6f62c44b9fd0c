"""Writes record batches: new ones, and replacements for batches that came.

Rules:
* A batch is written as Kafka's own producer writes it: the first record's time is the base, the checksum comes last.
* A replacement keeps all that the header of the old batch promised to others: offsets, leader epoch, producer,
  sequence, codec, transaction, and the kind of time.
* A value that does not fit its field is a ProtocolError, and the fault is ours.

Source: org.apache.kafka.common.record.MemoryRecordsBuilder.
"""

import struct
from collections.abc import Iterable, Iterator

from crc32c import crc32c

from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.records.batch import (
    CHECKED_AT,
    COMPRESSION,
    CONTROL,
    CRC_AT,
    HEADER,
    HEADER_FIELDS,
    LOG_APPEND_TIME,
    MAGIC,
    TRANSACTIONAL,
    RecordBatch,
)
from proxy.protocol.records.compression import CompressionType, compress
from proxy.protocol.records.record import NEXT, NO_TIMESTAMP, Record, write_record

_PREFIX_SIZE = 12  # offset and length, which the length does not count
_CRC = struct.Struct(">I")


def write_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    compression: CompressionType = CompressionType.NONE,
    partition_leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    transactional: bool = False,
    control: bool = False,
) -> bytes:
    """A new batch of these records, with the producer's own timestamps (CreateTime)."""
    kept = list(_with_offsets(records, base_offset))
    return _assemble(
        kept,
        base_offset=base_offset,
        partition_leader_epoch=partition_leader_epoch,
        attributes=compression | TRANSACTIONAL * transactional | CONTROL * control,
        last_offset_delta=kept[-1].offset - base_offset if kept else 0,
        base_timestamp=kept[0].timestamp if kept else NO_TIMESTAMP,
        max_timestamp=NO_TIMESTAMP,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
    )


def rewrite_batch(batch: RecordBatch, records: Iterable[Record]) -> bytes:
    """A batch of these records to replace `batch`.

    A batch of an idempotent producer must keep its number of records: the broker counts the sequence by it. The records
    are written as they come, and not kept.
    """
    return _assemble(
        _with_offsets(records, batch.base_offset),
        base_offset=batch.base_offset,
        partition_leader_epoch=batch.partition_leader_epoch,
        attributes=batch.attributes,
        last_offset_delta=batch.last_offset_delta,
        base_timestamp=batch.base_timestamp,
        max_timestamp=batch.max_timestamp,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
    )


def with_header(batch: RecordBatch, **fields: int) -> bytes:
    """The batch with other values in these fields of its header, and a checksum to match. Its records stay."""
    changed = bytearray(batch.data)
    HEADER.pack_into(changed, 0, *(fields.get(name, getattr(batch, name)) for name in HEADER_FIELDS))
    _CRC.pack_into(changed, CRC_AT, crc32c(memoryview(changed)[CHECKED_AT:]))
    return bytes(changed)


def _with_offsets(records: Iterable[Record], following: int) -> Iterator[Record]:
    """The records with their offsets: a record without one follows the record before it."""
    for record in records:
        if record.offset == NEXT:
            record = record._replace(offset=following)
        following = record.offset + 1
        yield record


def _assemble(
    records: Iterable[Record],
    *,
    base_offset: int,
    partition_leader_epoch: int,
    attributes: int,
    last_offset_delta: int,
    base_timestamp: int,
    max_timestamp: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
) -> bytes:
    """The bytes of a batch. Its `max_timestamp` stays only where it is the broker's, or where there are no records."""
    plain = bytearray()
    count, latest = 0, max_timestamp
    for count, record in enumerate(records, 1):
        write_record(plain, record, base_offset, base_timestamp)
        latest = max(latest, record.timestamp) if count > 1 else record.timestamp
    body = compress(attributes & COMPRESSION, memoryview(plain))
    try:
        header = bytearray(
            HEADER.pack(
                base_offset,
                HEADER.size - _PREFIX_SIZE + len(body),
                partition_leader_epoch,
                MAGIC,
                0,
                attributes,
                last_offset_delta,
                base_timestamp,
                max_timestamp if attributes & LOG_APPEND_TIME else latest,
                producer_id,
                producer_epoch,
                base_sequence,
                count,
            )
        )
    except struct.error as error:
        raise ProtocolError(f"a record batch cannot be written: {error}", fault=Fault.OURS) from None
    _CRC.pack_into(header, CRC_AT, crc32c(body, crc32c(header[CHECKED_AT:])))
    return bytes(header) + body
