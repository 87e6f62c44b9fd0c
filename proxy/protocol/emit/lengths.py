"""Lengths, counts and nulls -> lines that read them: what stands before a value, and says whether and how far it goes.

Rules:
* A count is checked against the fewest bytes that its elements take, before any of them is read.
* In a sliced reader `room` is how many more units of elements there may be (`slices.py`), and `turn` is the position at
  which others have their turn. In the reader of a request, `others` is how many more elements there may be that are no
  partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from proxy.protocol.emit.source import WIDTH, Source
from proxy.protocol.plan import Fixed, Many
from proxy.protocol.slices import BYTES, READ


def read_length(src: Source, compact: bool, wide: str, longest: int | None = None) -> str:
    """Read a length or count into a fresh name; a compact one is the number plus one, 0 for null."""
    n = src.fresh("n")
    if compact:
        src.add(f"{n} = buf[p]", "p += 1")
        with src.block(f"if {n} > 127:"):
            src.add(f"{n}, p = rest_of_uvarint(buf, p, {n})")
            if longest is not None:
                with src.block(f"if {n} > {longest + 1}:"):
                    src.add("raise Short")
    else:
        src.add(f"{n}, = {src.unpack(wide)}(buf, p)", f"p += {WIDTH[wide]}")
    return n


@contextmanager
def unless_null(src: Source, n: str, compact: bool, nullable: bool, target: str | None) -> Iterator[None]:
    """The lines for a length that is not null; null is handled or refused here."""
    missing = f"not {n}" if compact else f"{n} < 0"
    if not nullable:
        with src.block(f"if {missing}:"):
            src.add("raise Short")
        yield
        return
    with src.block(f"if {missing}:"):
        if target:
            src.add(f"{target} = None")
    with src.block("else:"):
        yield


@contextmanager
def unless_absent(src: Source, nullable: bool, target: str | None) -> Iterator[None]:
    """The lines for a struct that is not null; null is handled here."""
    if not nullable:
        yield
        return
    present = src.fresh("n")
    src.add(f"{present} = buf[p]", "p += 1")
    with src.block(f"if {present} > 127:"):  # a signed byte: below 0 is null
        if target:
            src.add(f"{target} = None")
    with src.block("else:"):
        yield


@contextmanager
def counted(src: Source, move: Many, target: str | None) -> Iterator[str]:
    """The lines for an array that is not null; gives the name of its count, which fits the bytes that are there."""
    n = read_length(src, move.compact, "i")
    with unless_null(src, n, move.compact, move.nullable, target):
        if move.compact:
            src.add(f"{n} -= 1")
        with src.block(f"if {n} * {move.element.least} > end - p:"):
            src.add("raise Short")
        if target or not isinstance(move.element, Fixed):
            charge(src, n, move.units, partitions=move.is_of_partitions)
        yield n


def charge(src: Source, n: str, units: int, *, partitions: bool) -> None:
    """Count elements that are about to be read, each of so many units."""
    if src.counts:
        src.add(f"room -= {n}" if units == 1 else f"room -= {n} * {units}")
        with src.block("if room < 0:"):
            src.add("raise TooMany")
    if src.counts_others and not partitions:
        src.add(f"others -= {n}")
        with src.block("if others < 0:"):
            src.add("raise TooManyOthers")


def end_slice(src: Source) -> None:
    """End this slice if it is long enough; called before each element."""
    if src.sliced:
        src.add(f"turn -= {READ}")
        with src.block("if p > turn:"):
            src.add("yield", f"turn = p + {BYTES}")
