"""Fixed bytes: two frames agree if they have the same bytes everywhere but in the spans that vary."""

from __future__ import annotations

import random
import struct

import pytest

from proxy.protocol.fixed_bytes import fixed_bytes


@pytest.mark.parametrize("seed", range(200))
def test_frames_agree_if_they_differ_only_in_what_varies(seed: int) -> None:
    dice = random.Random(seed)
    frame = dice.randbytes(60)
    start = dice.randrange(20)
    end = dice.randrange(start, 60)
    places = sorted(dice.sample(range(start, end + 1), min(2 * dice.randrange(4), (end - start + 1) // 2 * 2)))
    varying = list(zip(places[::2], places[1::2], strict=True))
    unpack = fixed_bytes(start, end, varying).unpack_from
    for at in range(60):
        other = bytearray(frame)
        other[at] ^= 1 << dice.randrange(8)
        matters = start <= at < end and not any(begin <= at < stop for begin, stop in varying)
        assert (unpack(memoryview(other), start) != unpack(frame, start)) is matters


def test_data_that_is_too_short_is_an_error() -> None:
    unpack = fixed_bytes(2, 10, [(4, 8)]).unpack_from
    assert unpack(b"0123456789", 2) == (b"23", b"89")
    with pytest.raises(struct.error):
        unpack(b"012345678", 2)


def test_frames_of_one_layout_share_what_takes_their_bytes_out_and_long_layouts_are_not_kept() -> None:
    assert fixed_bytes(2, 30, [(10, 14)]) is fixed_bytes(12, 40, [(20, 24)])
    many = [(at, at + 1) for at in range(2, 100, 2)]
    assert fixed_bytes(0, 100, many) is not fixed_bytes(0, 100, many)
