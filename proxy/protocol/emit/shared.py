"""Functions that printed code calls: the rarer paths, and unpackers made once.

Rules:
* Printed code reads the common case itself (lengths under 128, arrays of few numbers) and calls here for the rest.
* `FEW` unpacks a compact array of up to 31 numbers together with its count byte, in one call: on Metadata v12 with
  100 topics of 10 partitions this took decoding from 1040 to 870 us and encoding from 1500 to 900 us.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from proxy.protocol.slices import NUMBERS, Sliced, TooMany, TooManyOthers, others
from proxy.protocol.varint import UVARINT, Short, read_uvarint, rest_of_uvarint, uvarint

FEW = 32  # a compact count is the number of elements plus one: counts from here on take the long way
LETTERS = "bhHiqd"
UNJOINED = 64 << 10  # bytes: copying a longer piece costs more than sending one piece more


def read_count(buf: bytes | memoryview, p: int, compact: bool) -> tuple[int, int]:
    """The count of an array at `p`, and where it ends; below 0 for null."""
    if compact:
        n, p = read_uvarint(buf, p)
        return n - 1, p
    (n,) = struct.unpack_from(">i", buf, p)
    return n, p + 4


def read_numbers(buf: bytes | memoryview, p: int, fmt: str, compact: bool, nullable: bool) -> tuple[Any, int]:
    """An array of numbers of any length, and where it ends."""
    n, p = read_count(buf, p, compact)
    if n < 0:
        if nullable:
            return None, p
        raise Short
    layout = f">{n}{fmt}"
    numbers = list(struct.unpack_from(layout, buf, p))  # checks its bounds by itself
    return numbers, p + struct.calcsize(layout)


def slice_numbers(
    buf: bytes | memoryview, p: int, fmt: str, compact: bool, nullable: bool, room: int, units: int
) -> Sliced[tuple[Any, int, int]]:
    """The same in slices, with `units` for each number; also returns how much room is left."""
    n, start = read_count(buf, p, compact)
    size = struct.calcsize(f">{fmt}")
    if n * size > len(buf) - start:
        raise Short
    room -= max(n, 0) * units
    if room < 0:
        raise TooMany
    if n <= NUMBERS:
        numbers, p = read_numbers(buf, p, fmt, compact, nullable)
        return numbers, p, room
    p, numbers = start, []
    stop = p + n * size
    while p < stop:
        some = min(NUMBERS, (stop - p) // size)
        numbers += struct.unpack_from(f">{some}{fmt}", buf, p)
        p += some * size
        yield
    return numbers, p, room


def write_numbers(numbers: list[Any], fmt: str, compact: bool) -> bytes:
    """An array of numbers of any length."""
    n = len(numbers)
    count = uvarint(n + 1) if compact else struct.pack(">i", n)
    return count + struct.pack(f">{n}{fmt}", *numbers)


def write_slices(numbers: list[Any], fmt: str, compact: bool, add: Callable[[bytes], None]) -> Sliced[None]:
    """The same in slices."""
    n = len(numbers)
    add(uvarint(n + 1) if compact else struct.pack(">i", n))
    for start in range(0, n, NUMBERS):
        some = numbers[start : start + NUMBERS]
        add(struct.pack(f">{len(some)}{fmt}", *some))
        if len(some) == NUMBERS:
            yield


def collected(pieces: list[Any], done: list[Any]) -> None:
    """Move `pieces` to `done`: small ones joined, large ones as they are."""
    start = 0
    for i, piece in enumerate(pieces):
        if len(piece) >= UNJOINED:
            done += (b"".join(pieces[start:i]), piece)
            start = i + 1
    done.append(b"".join(pieces[start:] if start else pieces))
    pieces.clear()


def write_tags(add: Callable[[bytes], None], tags: Iterable[tuple[int, bytes]]) -> None:
    """Tagged fields, ascending."""
    ascending = sorted(tags)
    add(uvarint(len(ascending)))
    for tag, body in ascending:
        add(uvarint(tag))
        add(uvarint(len(body)))
        add(body)


ENVIRONMENT: dict[str, Any] = {
    "Short": Short,
    "TooMany": TooMany,
    "TooManyOthers": TooManyOthers,
    "UVARINT": UVARINT,
    "collected": collected,
    "new": object.__new__,
    "others_of": others,
    "read_numbers": read_numbers,
    "read_uvarint": read_uvarint,
    "rest_of_uvarint": rest_of_uvarint,
    "slice_numbers": slice_numbers,
    "uvarint": uvarint,
    "write_numbers": write_numbers,
    "write_slices": write_slices,
    "write_tags": write_tags,
    **{f"READ_FEW_{f}": [struct.Struct(f">x{max(n - 1, 0)}{f}").unpack_from for n in range(FEW)] for f in LETTERS},
    **{f"WRITE_FEW_{f}": [struct.Struct(f">B{n}{f}").pack for n in range(FEW - 1)] for f in LETTERS},
}
