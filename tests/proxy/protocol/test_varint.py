"""Unsigned varints, in both directions."""

import pytest

from proxy.protocol.varint import UVARINT, Short, read_uvarint, uvarint


@pytest.mark.parametrize(
    ("number", "spelt"),
    [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (1023, "ff07"), (0xFFFFFFFF, "ffffffff0f")],
)
def test_a_number_is_read_as_it_was_spelt(number, spelt):
    assert uvarint(number).hex() == spelt
    assert read_uvarint(b"x" + uvarint(number) + b"x", 1) == (number, 1 + len(spelt) // 2)


def test_the_table_is_what_would_be_spelt():
    assert [read_uvarint(spelt, 0)[0] for spelt in UVARINT] == list(range(len(UVARINT)))


@pytest.mark.parametrize("spelt", ["ffffffffff", "ffffffff1f", "ffffffffff01"])
def test_more_than_32_bits_are_no_length(spelt):
    with pytest.raises(Short):
        read_uvarint(bytes.fromhex(spelt), 0)
