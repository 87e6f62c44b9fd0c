"""Record batches: the header of a batch, and the records behind it, which are read on demand.

    for batch in batches(partition.records):
        if isinstance(batch, RecordBatch):
            for record in batch.records():
                ...

Rules:
* A batch is a view of the bytes in which it came. Nothing is copied, decompressed or checked before a caller asks for
  it. An unchanged batch is sent as `data`, byte for byte.
* To change records, write another batch (`write.py`).
* A length or a count is checked before it is used; every mistake in the bytes is a ProtocolError.
* The last batch of a Fetch answer may break off: the broker cuts at a size, and the consumer drops an incomplete batch.
  In a Produce request nothing may break off.

Sources: KIP-98; org.apache.kafka.common.record.DefaultRecordBatch and ByteBufferLogInputStream.
"""

import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from crc32c import crc32c

from proxy.protocol.problem import ProtocolError
from proxy.protocol.records.compression import LIMIT, CompressionType, compression_type, decompress
from proxy.protocol.records.message_set import LEAST, MessageSet
from proxy.protocol.records.record import LEAST_RECORD, Record, read_records

MAGIC = 2
MAGIC_AT = 16  # in a batch, and in a message of magic 0 or 1
CRC_AT = 17
CHECKED_AT = 21  # the checksum covers the bytes from here on

HEADER = struct.Struct(">qiibIhiqqqhii")  # the fields of RecordBatch, from `base_offset` on
_PREFIX = struct.Struct(">qi")  # offset and length, also of a message
_COUNTED = struct.Struct(">h34xi")  # the attributes and the number of records

# The bits of the attributes.
COMPRESSION = 0b111
LOG_APPEND_TIME = 1 << 3
TRANSACTIONAL = 1 << 4
CONTROL = 1 << 5


@dataclass(slots=True, eq=False, repr=False)
class RecordBatch:
    """A batch of magic 2: its header in Kafka's names, and a way to its records. `batches` finds them."""

    data: memoryview  # all of the batch
    position: int  # where it was found, for error messages
    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    def __repr__(self) -> str:
        return f"<RecordBatch of {self.records_count} records, offsets {self.base_offset} to {self.last_offset}>"

    @property
    def last_offset(self) -> int:
        """The offset of the last record that the batch had when it was written; compaction may have dropped it."""
        return self.base_offset + self.last_offset_delta

    @property
    def compression_type(self) -> CompressionType:
        """How the records are compressed. Raises ProtocolError if Kafka knows no such type."""
        try:
            return compression_type(self.attributes & COMPRESSION)
        except ProtocolError as error:
            raise self._problem(error) from None

    @property
    def is_log_append_time(self) -> bool:
        """Is `max_timestamp` the time of every record, as the broker took it?"""
        return bool(self.attributes & LOG_APPEND_TIME)

    @property
    def is_transactional(self) -> bool:
        """Do the records count only once their transaction commits?"""
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """Are the records Kafka's own, such as the end of a transaction? Consumers never see them."""
        return bool(self.attributes & CONTROL)

    @property
    def is_intact(self) -> bool:
        """Does the checksum agree with the bytes?"""
        return bool(crc32c(self.data[CHECKED_AT:]) == self.crc)

    def records(self, limit: int = LIMIT) -> Iterator[Record]:
        """The records, decompressed to at most `limit` bytes. Raises ProtocolError if they cannot be read.

        Keys and values are slices of `data`, or of the decompressed bytes.
        """
        if self.records_count == 0:  # an empty batch that compaction left; even its codec is not looked at
            return
        try:
            if self.records_count < 0:
                raise ProtocolError(f"it counts {self.records_count} records")
            data = decompress(self.attributes & COMPRESSION, self.data[HEADER.size :], limit)
            records = read_records(data, self.records_count, self.base_offset, self.base_timestamp)
            if self.is_log_append_time:
                records = (record._replace(timestamp=self.max_timestamp) for record in records)
            yield from records
        except ProtocolError as error:
            raise self._problem(error) from error

    def _problem(self, error: ProtocolError) -> ProtocolError:
        return ProtocolError(f"a record batch cannot be read: {error.what}", position=self.position)


HEADER_FIELDS = tuple(RecordBatch.__dataclass_fields__)[2:]  # in the order of HEADER


def batches(data: bytes | memoryview, *, partial: bool = False) -> Iterator[RecordBatch | MessageSet]:
    """The batches and message sets in `data`, in order; with `partial`, a last batch that breaks off is left out."""
    view = memoryview(data)
    at = messages = 0  # `messages`: where the current message set began
    while (extent := _extent(view, at)) is not None:
        magic, end = extent
        if magic == MAGIC:
            if messages < at:
                yield MessageSet(view[messages:at], messages)
            yield RecordBatch(view[at:end], at, *HEADER.unpack_from(view, at))
            messages = end
        at = end
    if messages < at:
        yield MessageSet(view[messages:at], messages)
    if at < len(view) and not partial:
        raise ProtocolError("the records break off", position=at)


def most_records(data: bytes | memoryview) -> int:
    """How many records there may be in `data`: so many as batches say, and as a compressed one may have."""
    view = memoryview(data)
    most = at = 0
    with suppress(ProtocolError):  # what follows is not read either
        while (extent := _extent(view, at)) is not None:
            magic, end = extent
            if magic == MAGIC:
                attributes, count = _COUNTED.unpack_from(view, at + CHECKED_AT)
                most += LIMIT // LEAST_RECORD if attributes & COMPRESSION else max(count, 0)
            at = end
    return most


def _extent(view: memoryview, at: int) -> tuple[int, int] | None:
    """The magic of the batch or message at `at`, and where it ends; None if the data ends before it."""
    left = len(view) - at
    if left < _PREFIX.size:
        return None
    size: int = _PREFIX.unpack_from(view, at)[1]
    if size < LEAST:
        raise ProtocolError(f"a record batch has a length of {size}", position=at + 8)
    if left <= MAGIC_AT:
        return None
    magic = view[at + MAGIC_AT]
    if magic == MAGIC and _PREFIX.size + size < HEADER.size:
        raise ProtocolError(f"a record batch has a length of {size}, less than its header", position=at + 8)
    if magic > MAGIC:
        raise ProtocolError(f"there are no record batches of magic {magic}", position=at + MAGIC_AT)
    return None if left - _PREFIX.size < size else (magic, at + _PREFIX.size + size)
