"""Placing: changes to a segment's lines, compared with a simple reference implementation."""

from __future__ import annotations

import os
import random

import pytest
import zstandard

from plugins.audit.placing import Damage, PlacedChange, Tampering, changes, pieces
from plugins.audit.segments import checks

LINES = [b'{"sequence":%d}\n' % number for number in range(100)]
SEALED = checks(LINES)


def frames(*groups: list[bytes]) -> bytes:
    return b"".join(zstandard.compress(b"".join(lines)) for lines in groups)


def test_what_is_as_it_was_has_no_changes() -> None:
    assert changes(SEALED, frames(LINES)) == []
    assert changes(SEALED, frames(*([line] for line in LINES))) == []


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (LINES[:40] + LINES[45:], [(Tampering.DELETED, 40, 44)]),
        (LINES[5:], [(Tampering.DELETED, 0, 4)]),
        (LINES[:90], [(Tampering.CUT_OFF, 90, 99)]),
        ([], [(Tampering.CUT_OFF, 0, 99)]),
        ([*LINES[:7], b"x\n", *LINES[8:]], [(Tampering.ALTERED, 7, 7)]),
        ([*LINES[:7], b"x\n", b"y\n", *LINES[9:]], [(Tampering.ALTERED, 7, 8)]),
        ([*LINES[:7], b"x\n", *LINES[7:]], [(Tampering.INSERTED, 7, 7)]),
        ([*LINES, b"x\n", b"y\n"], [(Tampering.INSERTED, 100, 101)]),
        ([*LINES[:7], b"x\n", *LINES[9:]], [(Tampering.ALTERED, 7, 7), (Tampering.DELETED, 8, 8)]),
        ([*LINES[1:50], LINES[0], *LINES[50:]], [(Tampering.MOVED, 0, 0)]),
        ([*LINES[:50], LINES[3], *LINES[50:]], [(Tampering.REPEATED, 3, 3)]),
        ([*LINES[:3], *LINES[4:50], LINES[80], *LINES[50:]], [(Tampering.DELETED, 3, 3), (Tampering.REPEATED, 80, 80)]),
    ],
)
def test_each_change_has_its_place(lines: list[bytes], expected: list[tuple[Tampering, int, int]]) -> None:
    assert changes(SEALED, frames(lines)) == [PlacedChange(*one) for one in expected]


def test_a_change_has_its_place_though_the_segment_was_compressed_by_another_program() -> None:
    altered = b"".join([*LINES[:7], b"x\n", *LINES[8:]])
    compressed = zstandard.ZstdCompressor(write_content_size=False).compress(altered)  # as `zstd` does in a pipe
    assert changes(SEALED, compressed) == [PlacedChange(Tampering.ALTERED, 7, 7)]


def test_what_is_unreadable_is_what_the_damaged_frame_had() -> None:
    data = bytearray(frames(LINES[:30], LINES[30:60], LINES[60:]))
    start = len(frames(LINES[:30]))
    for position in range(start, start + 12):
        broken = bytearray(data)
        broken[position] ^= 0xFF
        assert changes(SEALED, bytes(broken)) in ([PlacedChange(Tampering.UNREADABLE, 30, 59)], [])
    assert changes(SEALED, b"junk" + bytes(data)) == []
    assert [type(piece) for piece in pieces(b"junk" + bytes(data))] == [Damage, list, list, list]


def test_any_shuffling_ends_soon_and_blames_no_line_that_stayed_in_order() -> None:
    dice = random.Random(1)
    lines = [b'{"sequence":%d,"x":"%s"}\n' % (number, os.urandom(4).hex().encode()) for number in range(20_000)]
    shuffled = lines[:]
    dice.shuffle(shuffled)
    moved = sum(last - first + 1 for change, first, last in changes(checks(lines), frames(shuffled)))
    assert 19_000 < moved < 20_000
    assert {change for change, _, _ in changes(checks(lines), frames(lines[::-1]))} == {Tampering.MOVED}
