"""Rewriting records, whatever message contains them."""

from __future__ import annotations

import tracemalloc

import pytest

from proxy.protocol.fiber import in_slices
from proxy.protocol.problem import ProtocolError
from proxy.protocol.records import (
    CompressionType,
    MessageSetError,
    Record,
    RecordBatch,
    batches,
    rewrite_records,
    write_batch,
)
from proxy.protocol.records.batch import MAGIC_AT
from proxy.protocol.slices import ELEMENTS

OLD = bytes(8) + (14).to_bytes(4, "big") + bytes(14)  # a message of magic 0


def loud(record: Record) -> Record:
    """In capitals; what has nothing to change is the same record."""
    value = bytes(record.value or b"")
    return record if value.isupper() else record._replace(value=value.upper())


def written(*values: bytes, **options: object) -> bytes:
    return write_batch([Record(None, value, timestamp=5) for value in values], **options)  # type: ignore[arg-type]


def read(data: bytes | memoryview) -> list[tuple[int, bytes]]:
    found = [batch for batch in batches(data) if isinstance(batch, RecordBatch)]
    return [(record.offset, bytes(record.value or b"")) for batch in found for record in batch.records()]


@pytest.mark.parametrize("codec", CompressionType)
def test_every_record_of_every_batch_is_changed(codec: CompressionType) -> None:
    data = written(b"a", b"b", compression=codec) + written(b"c", base_offset=2, compression=codec)
    after = rewrite_records(data, loud)
    assert read(after) == [(0, b"A"), (1, b"B"), (2, b"C")]
    assert [batch.compression_type for batch in batches(after) if isinstance(batch, RecordBatch)] == [codec, codec]


def test_a_transaction_stays_one() -> None:
    data = written(b"a", producer_id=7, producer_epoch=2, base_sequence=40, transactional=True)
    (batch,) = batches(rewrite_records(data, loud))
    assert isinstance(batch, RecordBatch)
    assert batch.is_intact
    assert batch.is_transactional
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (7, 2, 40)


def test_control_batches_stay_as_they_are_between_others() -> None:
    marker = written(b"commit", control=True, transactional=True, base_offset=1)
    after = rewrite_records(written(b"a") + marker + written(b"b", base_offset=2), loud)
    assert bytes(after) == bytes(rewrite_records(written(b"a"), loud)) + marker + bytes(
        rewrite_records(written(b"b", base_offset=2), loud)
    )


def test_what_nobody_changes_is_the_same_bytes() -> None:
    data = written(b"A") + written(b"B", base_offset=1)
    assert rewrite_records(data, loud) is data
    half = written(b"A") + written(b"b", base_offset=1)
    assert bytes(rewrite_records(half, loud)).startswith(written(b"A"))


def test_records_before_the_first_that_is_changed_stay_as_they_are() -> None:
    asked: list[bytes] = []

    def change(record: Record) -> Record:
        asked.append(bytes(record.value or b""))
        return loud(record)

    after = rewrite_records(written(b"A", b"B", b"c", b"D", compression=CompressionType.ZSTD), change)
    assert read(after) == [(0, b"A"), (1, b"B"), (2, b"C"), (3, b"D")]
    assert asked == [b"A", b"B", b"c", b"D"]


def test_records_are_not_kept_and_others_have_their_turn_between_them() -> None:
    data = written(*[b"a"] * 20_000, compression=CompressionType.ZSTD)
    tracemalloc.start()
    slices = sum(1 for _ in in_slices(rewrite_records, data, loud))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert slices >= 20_000 // ELEMENTS
    assert peak < 2 << 20  # all records at once take 6 MiB


def test_a_last_batch_that_breaks_off_is_left_out() -> None:
    whole = written(b"A")
    assert rewrite_records(whole + written(b"secret")[:-3], loud, partial=True) == whole
    assert rewrite_records(written(b"secret")[:-3], loud, partial=True) == b""
    with pytest.raises(ProtocolError, match="break off"):
        rewrite_records(whole + written(b"secret")[:-3], loud)


def test_a_wrong_checksum_is_never_made_right() -> None:
    data = bytearray(written(b"a"))
    data[-2] ^= 1
    with pytest.raises(ProtocolError, match="checksum"):
        rewrite_records(bytes(data), loud)


def test_old_messages_are_refused_by_a_name_of_their_own() -> None:
    assert OLD[MAGIC_AT] == 0
    with pytest.raises(MessageSetError, match="magic 0 or 1"):
        rewrite_records(written(b"a") + OLD, loud)
    assert rewrite_records(b"", loud) == b""
