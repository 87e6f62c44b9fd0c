"""Record batches: their headers, their records, and their errors."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.problem import ProtocolError
from proxy.protocol.records import (
    CompressionType,
    Record,
    RecordBatch,
    batches,
    most_records,
    rewrite_batch,
    write_batch,
)
from tests.proxy.protocol.records.some import codecs, only, patched, records


def test_log_append_time_is_the_time_of_every_record() -> None:
    data = write_batch([Record(None, b"a", timestamp=1), Record(None, b"b", timestamp=2)])
    batch = only(patched(data, 21, ">h", 1 << 3))
    assert batch.is_log_append_time
    assert [record.timestamp for record in batch.records()] == [2, 2]
    again = only(rewrite_batch(batch, [Record(None, b"c", timestamp=99)]))
    assert again.max_timestamp == 2


def test_attributes_are_read_one_by_one() -> None:
    batch = only(patched(write_batch([]), 21, ">h", 1 << 4 | 1 << 5 | 4))
    assert batch.is_transactional
    assert batch.is_control
    assert not batch.is_log_append_time
    assert batch.compression_type is CompressionType.ZSTD


def test_an_empty_batch_has_no_records_whatever_its_codec() -> None:
    batch = only(patched(write_batch([]), 21, ">h", 7))
    assert list(batch.records()) == []


def test_a_flipped_bit_is_not_intact() -> None:
    data = write_batch([Record(b"key", b"value")])
    assert not only(patched(data, len(data) - 2, "B", 0)).is_intact


def test_offset_and_leader_epoch_are_outside_the_checksum() -> None:
    data = patched(write_batch([Record(b"key", b"value")]), 0, ">q", 1000)
    assert only(patched(data, 12, ">i", 9)).is_intact


def test_batches_follow_each_other() -> None:
    one, two = write_batch([Record(b"a", None)]), write_batch([Record(b"b", None)], base_offset=1)
    first, second = batches(one + two)
    assert bytes(first.data) == one
    assert bytes(second.data) == two
    assert second.position == len(one)


def test_a_fetch_answer_may_break_off_anywhere() -> None:
    whole = write_batch([Record(b"a", b"b")])
    for cut in range(len(whole)):
        (batch,) = batches(whole + whole[:cut], partial=True)
        assert bytes(batch.data) == whole


def test_a_produce_request_may_not_break_off() -> None:
    whole = write_batch([Record(b"a", b"b")])
    for cut in range(1, len(whole)):
        with pytest.raises(ProtocolError, match="break off, at byte"):
            list(batches(whole + whole[:cut]))


def test_what_is_compressed_may_have_more_records_than_it_says() -> None:
    plain = write_batch([Record(None, b"a")] * 3)
    zipped = write_batch([Record(None, b"a")] * 3, compression=CompressionType.GZIP)
    assert most_records(plain * 2 + b"no batch") == 6
    assert most_records(plain + zipped) > 1_000_000
    assert most_records(patched(plain, 57, ">i", -1)) == 0
    assert most_records(b"") == 0


def test_no_bytes_are_no_batches() -> None:
    assert list(batches(b"")) == []


@pytest.mark.parametrize(
    ("at", "fmt", "value", "complaint"),
    [
        (8, ">i", -1, "a length of -1"),
        (8, ">i", 13, "a length of 13"),
        (8, ">i", 48, "a length of 48, less than its header"),
        (8, ">i", 0x7FFFFFFF, "break off"),
        (16, "b", 3, "no record batches of magic 3"),
        (16, "b", -1, "no record batches of magic 255"),
    ],
)
def test_a_header_that_cannot_be_is_refused(at: int, fmt: str, value: int, complaint: str) -> None:
    data = patched(write_batch([Record(b"key", b"value")]), at, fmt, value)
    with pytest.raises(ProtocolError, match=complaint):
        list(batches(data))


def test_the_decompressed_size_is_limited() -> None:
    data = write_batch([Record(None, bytes(1 << 20))], compression=CompressionType.ZSTD)
    assert len(list(only(data).records())) == 1
    with pytest.raises(ProtocolError, match="more than 65,536 bytes when decompressed"):
        list(only(data).records(limit=1 << 16))


@given(
    st.lists(records, min_size=1, max_size=4),
    codecs,
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_mutated_bytes_give_records_or_a_protocol_error(
    written: list[Record], codec: CompressionType, mutations: list[tuple[int, int]]
) -> None:
    data = bytearray(write_batch(written, compression=codec))
    for place, byte in mutations:
        data[place % len(data)] = byte
    with suppress(ProtocolError):
        for found in batches(bytes(data)):
            if isinstance(found, RecordBatch):
                list(found.records(limit=1 << 20))


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_give_batches_or_a_protocol_error(data: bytes, partial: bool) -> None:
    try:
        found = list(batches(data, partial=partial))
    except ProtocolError:
        return
    assert b"".join(part.data for part in found) == (data[: sum(len(part.data) for part in found)] if partial else data)
