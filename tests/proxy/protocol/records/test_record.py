"""Records: their fields, and bytes that are not records."""

import pytest

from proxy.protocol.problem import ProtocolError
from proxy.protocol.records import Header, Record, rewrite_batch, write_batch
from tests.proxy.protocol.records.some import contents, only, patched


def test_a_name_that_is_no_utf8_passes_as_it_came() -> None:
    data = write_batch([Record(None, None, (Header("\udcff", b""),))])
    assert b"\xff" in data
    assert rewrite_batch(only(data), only(data).records()) == data


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
        (65, "B", 8, "header of 59 bytes ends past it"),
        (65, "B", 200, "bytes ends past it"),
        (69, "B", 16, "header of 8 bytes ends past it"),
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


@pytest.mark.parametrize("delta", [0, -1, 63, -64, 64, -65, 8191, 8192, (1 << 62), -(1 << 61)])
def test_times_before_and_after_the_first_are_read(delta: int) -> None:
    first = 1 << 61
    data = write_batch([Record(None, None, timestamp=first), Record(None, None, timestamp=first + delta)])
    assert [record.timestamp for record in only(data).records()] == [first, first + delta]


@pytest.mark.parametrize("size", [0, 1, 63, 64, 8191, 8192, 1 << 20])
def test_keys_and_values_of_any_size_are_read(size: int) -> None:
    record = Record(bytes(size), b"v" * size, (Header("h" * size, bytes(size)),), 0, 0)
    assert contents(only(write_batch([record]))) == [record]


def test_keys_and_values_are_slices_of_the_batch() -> None:
    data = write_batch([Record(b"key", b"value")])
    (record,) = only(data).records()
    assert isinstance(record.value, memoryview)
    assert record.value.obj is data
