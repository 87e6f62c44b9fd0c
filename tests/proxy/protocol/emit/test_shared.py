"""Functions that generated code calls: arrays of numbers that are too long for the fast path, and tagged fields."""

import struct

import pytest

from proxy.protocol.emit.shared import FEW, read_numbers, write_numbers, write_tags
from proxy.protocol.varint import Short


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("count", [0, 1, FEW, 5000])
@pytest.mark.parametrize("fmt", ["b", "h", "i", "q"])
def test_an_array_of_any_length_is_read_as_it_was_written(fmt, count, compact):
    numbers = [n % 100 - 50 for n in range(count)]
    data = write_numbers(numbers, fmt, compact)
    assert read_numbers(b"x" + data + b"rest", 1, fmt, compact, nullable=False) == (numbers, 1 + len(data))


@pytest.mark.parametrize(("compact", "null"), [(True, b"\x00"), (False, b"\xff\xff\xff\xff")])
def test_null_is_read_where_it_may_be(compact, null):
    assert read_numbers(null, 0, "i", compact, nullable=True) == (None, len(null))
    with pytest.raises(Short):
        read_numbers(null, 0, "i", compact, nullable=False)


def test_a_count_beyond_the_bytes_is_not_believed():
    with pytest.raises(struct.error):
        read_numbers(struct.pack(">i", 0x7FFFFFFF), 0, "q", compact=False, nullable=False)


def test_tags_are_written_in_ascending_order():
    pieces: list[bytes] = []
    write_tags(pieces.append, [(300, b"late"), (1, b"")])
    assert b"".join(pieces) == b"\x02\x01\x00\xac\x02\x04late"
