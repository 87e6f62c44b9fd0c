"""Record batches: what their headers say, what they hold, and what is wrong with them."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.problem import ProtocolError
from proxy.protocol.records import (
    CompressionType,
    Header,
    MessageSet,
    Record,
    RecordBatch,
    batches,
    rewrite_batch,
    write_batch,
)
from proxy.protocol.records.record import NEXT

MESSAGE_0 = bytes.fromhex("0000000000000007 00000010 00000000 00 00 ffffffff 00000002 6869")
MESSAGE_1 = bytes.fromhex("0000000000000008 00000018 00000000 01 00 0000000000000005 ffffffff 00000002 6869")

payloads = st.none() | st.binary(max_size=300)
headers = st.builds(Header, st.text(max_size=20), payloads)
records = st.builds(
    Record,
    payloads,
    payloads,
    st.lists(headers, max_size=3).map(tuple),
    st.integers(-1, 1 << 62),
    st.just(NEXT),
)
codecs = st.sampled_from(CompressionType)


def only(data: bytes) -> RecordBatch:
    (batch,) = batches(data)
    assert isinstance(batch, RecordBatch)
    return batch


def contents(batch: RecordBatch) -> list[Record]:
    """The records, with bytes for slices."""

    def copied(value: bytes | memoryview | None) -> bytes | None:
        return None if value is None else bytes(value)

    return [
        record._replace(
            key=copied(record.key),
            value=copied(record.value),
            headers=tuple(Header(name, copied(value)) for name, value in record.headers),
        )
        for record in batch.records()
    ]


def patched(data: bytes, at: int, fmt: str, *values: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into(fmt, changed, at, *values)
    return bytes(changed)


@given(st.lists(records, min_size=1, max_size=20), codecs, st.integers(0, 1 << 62))
def test_what_is_written_is_read(written: list[Record], codec: CompressionType, base_offset: int) -> None:
    data = write_batch(written, base_offset=base_offset, compression=codec)
    batch = only(data)
    assert batch.is_intact
    assert batch.compression_type is codec
    assert batch.records_count == len(written)
    assert batch.last_offset == base_offset + len(written) - 1
    assert batch.max_timestamp == max(record.timestamp for record in written)
    assert contents(batch) == [record._replace(offset=base_offset + n) for n, record in enumerate(written)]


@given(st.lists(records, max_size=10), codecs)
def test_a_batch_rewritten_with_its_own_records_is_as_it_was(written: list[Record], codec: CompressionType) -> None:
    data = write_batch(written, compression=codec, producer_id=7, producer_epoch=1, base_sequence=5, transactional=True)
    assert rewrite_batch(only(data), only(data).records()) == data


def test_a_batch_in_anothers_place_keeps_what_was_promised() -> None:
    old = only(write_batch([Record(b"k", b"v", offset=5), Record(b"k", b"w", offset=9)], base_offset=4, producer_id=3))
    new = only(rewrite_batch(old, [record._replace(value=b"other") for record in old.records()]))
    assert (new.base_offset, new.last_offset, new.producer_id) == (4, 9, 3)
    assert [(record.offset, bytes(record.value or b"")) for record in new.records()] == [(5, b"other"), (9, b"other")]


def test_log_append_time_is_the_time_of_every_record() -> None:
    data = write_batch([Record(None, b"a", timestamp=1), Record(None, b"b", timestamp=2)])
    batch = only(patched(data, 21, ">h", 1 << 3))
    assert batch.is_log_append_time
    assert [record.timestamp for record in batch.records()] == [2, 2]
    again = only(rewrite_batch(batch, [Record(None, b"c", timestamp=99)]))
    assert again.max_timestamp == 2


def test_attributes_are_read_one_by_one() -> None:
    batch = only(patched(write_batch([]), 21, ">h", 1 << 4 | 1 << 5 | 1 << 6 | 4))
    assert batch.is_transactional
    assert batch.is_control
    assert batch.has_delete_horizon
    assert not batch.is_log_append_time
    assert batch.compression_type is CompressionType.ZSTD


def test_a_name_that_is_no_utf8_passes_as_it_came() -> None:
    data = write_batch([Record(None, None, (Header("\udcff", b""),))])
    assert b"\xff" in data
    assert rewrite_batch(only(data), only(data).records()) == data


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


def test_message_sets_pass_unread_in_their_place() -> None:
    batch = write_batch([Record(b"a", None)])
    found = list(batches(MESSAGE_0 + MESSAGE_1 + batch + MESSAGE_1))
    assert [type(part) for part in found] == [MessageSet, RecordBatch, MessageSet]
    assert [bytes(part.data) for part in found] == [MESSAGE_0 + MESSAGE_1, batch, MESSAGE_1]
    assert [part.position for part in found] == [0, 64, 64 + len(batch)]


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


@pytest.mark.parametrize(
    ("at", "fmt", "value", "complaint"),
    [
        (57, ">i", -1, "counts -1 records"),
        (57, ">i", 2, "2 records do not fit 13 bytes"),
        (57, ">i", 0x7FFFFFFF, "2147483647 records do not fit"),
        (21, ">h", 5, "no compression type 5"),
        (21, ">h", 1, "the gzip data is broken"),
        (61, "B", 0x7F, "its length of -64 does not fit"),
        (61, "B", 26, "its length of 13 does not fit"),
        (61, "B", 22, "its length is 11, its fields take 12"),
        (65, "B", 8, "59 bytes of it end past it"),
        (65, "B", 200, "bytes of it end past it"),
        (69, "B", 16, "8 bytes of it end past it"),
        (73, "B", 2, "1 headers do not fit"),
        (73, "B", 1, "-1 headers do not fit"),
    ],
)
def test_records_that_cannot_be_are_refused(at: int, fmt: str, value: int, complaint: str) -> None:
    data = patched(write_batch([Record(b"key", b"val")]), at, fmt, value)
    with pytest.raises(ProtocolError, match=f"a record batch cannot be read: .*{complaint}") as caught:
        list(only(data).records())
    assert caught.value.position == 0


def test_bytes_behind_the_last_record_are_refused() -> None:
    data = write_batch([Record(b"key", b"value"), Record(b"key", b"value")])
    with pytest.raises(ProtocolError, match="15 bytes are left after 1 records"):
        list(only(patched(data, 57, ">i", 1)).records())


def test_a_varint_that_never_ends_is_refused() -> None:
    data = write_batch([Record(b"key", b"a value of some length")])
    with pytest.raises(ProtocolError, match="longer than 32 bits"):
        list(only(patched(data, 61, "5B", *[0xFF] * 5)).records())


def test_the_decompressed_size_is_limited() -> None:
    data = write_batch([Record(None, bytes(1 << 20))], compression=CompressionType.ZSTD)
    assert len(list(only(data).records())) == 1
    with pytest.raises(ProtocolError, match="more than 65,536 bytes when decompressed"):
        list(only(data).records(limit=1 << 16))


@pytest.mark.parametrize(
    "record",
    [
        Record(None, None, timestamp=1 << 63),
        Record(None, None, offset=1 << 31),
        Record(None, None, offset=1 << 63),
    ],
)
def test_what_no_record_can_have_is_not_written(record: Record) -> None:
    with pytest.raises(ProtocolError, match=r"does not fit|cannot be written"):
        write_batch([record])


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
