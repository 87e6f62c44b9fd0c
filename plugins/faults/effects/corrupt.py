"""Corrupt: batches of records that contradict their headers, or have other values.

Before the broker it is the broker that must notice, after the broker the consumer. All but `checksum` and `length` have
a valid checksum, as records that were written wrongly and not damaged on the way.

Rules:
* `checksum`: the checksum does not fit. `compression`: the batch names another codec than its own. `codec`: it names a
  codec that does not exist. `count`: it says one record more than it has. `magic`: it has an unknown format. `length`:
  it says twice its length, and so it breaks off.
* `value`: every value has other bytes. No broker or client notices; the application does, when it reads them.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from pydantic import Field

from plugins.faults.records import Batch, RecordsEffect
from proxy.plugin import CompressionType, MessageSet, ProtocolError, Record, RecordBatch, rewrite_batch, turns
from proxy.plugin.frames import MAGIC_AT, with_header

CRC_AT = 17  # in a batch
CRC_OF_MESSAGE_AT = 12  # in a message of magic 0 or 1
CODEC = 0b111  # of the attributes; no codec has this number
UNKNOWN_MAGIC = 9
MOST_RECORDS = 2**31 - 1  # the largest number that a batch can say


class Corruption(Enum):
    """What is wrong with a batch."""

    CHECKSUM = "checksum"
    COMPRESSION = "compression"
    CODEC = "codec"
    COUNT = "count"
    MAGIC = "magic"
    LENGTH = "length"
    VALUE = "value"


class CorruptRecords(RecordsEffect):
    """Corrupt every batch."""

    what: Corruption = Field(
        default=Corruption.CHECKSUM, description="What is wrong with the records.", examples=["compression"]
    )

    def fits(self, batch: Batch) -> bool:
        if isinstance(batch, MessageSet):
            return self.what is Corruption.CHECKSUM
        if self.what is Corruption.VALUE:
            return super().fits(batch) and _has_values(batch)
        is_full = self.what is Corruption.COUNT and batch.records_count == MOST_RECORDS
        return super().fits(batch) and not is_full

    def changed(self, batch: Any) -> bytes:
        match self.what:
            case Corruption.CHECKSUM:
                return _flipped(batch.data, CRC_OF_MESSAGE_AT if isinstance(batch, MessageSet) else CRC_AT)
            case Corruption.COMPRESSION:
                is_gzip = batch.attributes & CODEC == CompressionType.GZIP
                other = CompressionType.ZSTD if is_gzip else CompressionType.GZIP
                return with_header(batch, attributes=batch.attributes & ~CODEC | other)
            case Corruption.CODEC:
                return with_header(batch, attributes=batch.attributes | CODEC)
            case Corruption.COUNT:
                return with_header(batch, records_count=batch.records_count + 1)
            case Corruption.MAGIC:
                changed = bytearray(batch.data)
                changed[MAGIC_AT] = UNKNOWN_MAGIC
                return bytes(changed)
            case Corruption.LENGTH:
                return with_header(batch, batch_length=2 * batch.batch_length)
            case Corruption.VALUE:
                return rewrite_batch(batch, map(_garbled, turns(batch.records())))


def _has_values(batch: RecordBatch) -> bool:
    """Whether all records can be read, and one of them has a value. They are not kept, since they may be many."""
    found = False
    try:
        for record in turns(batch.records()):
            found = found or bool(record.value)
    except ProtocolError:
        return False
    return found


def _garbled(record: Record) -> Record:
    if not record.value:
        return record
    return record._replace(value=bytes(byte ^ 0xFF for byte in record.value))


def _flipped(data: memoryview, at: int) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 0xFF
    return bytes(changed)
