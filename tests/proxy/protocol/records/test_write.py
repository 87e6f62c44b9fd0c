"""Writing record batches: they can be read again, and a batch that replaces another keeps its header's promises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.records import CompressionType, Record, rewrite_batch, write_batch
from proxy.protocol.records.write import with_header
from tests.proxy.protocol.records.some import codecs, contents, only, records


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


def test_another_header_has_a_checksum_that_fits_and_the_same_records() -> None:
    old = only(write_batch([Record(b"k", b"v", timestamp=5)], producer_id=3, compression=CompressionType.GZIP))
    new = only(with_header(old, base_timestamp=7, records_count=1))
    assert new.is_intact
    assert (new.base_timestamp, new.max_timestamp, new.producer_id) == (7, 5, 3)
    assert [bytes(record.value or b"") for record in new.records()] == [b"v"]


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


def test_what_cannot_be_written_is_our_fault() -> None:
    with pytest.raises(ProtocolError) as caught:
        write_batch([], producer_epoch=1 << 15)
    assert caught.value.fault is Fault.OURS


def test_a_record_without_an_offset_follows_the_one_before() -> None:
    data = write_batch([Record(None, b"a"), Record(None, b"b", offset=9), Record(None, b"c")], base_offset=4)
    assert [record.offset for record in only(data).records()] == [4, 9, 10]
    assert only(data).last_offset == 10
