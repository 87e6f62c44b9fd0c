"""Moves -> lines that read or skip.

Rules:
* Printed code has no decisions about versions left in it, and makes no objects but those that were requested.
* Bounds are checked before a span is cut.
* Bad bytes raise `Short`, IndexError or struct.error; `codec.py` turns these into a ProtocolError.
* A sliced reader's bytes may be a view, of which only the requested parts are copied.
* `end` is where the bytes end, `p` how far they are read. Skipping may leave `p` behind `end`: code that cuts a span
  checks it.
* A string is no longer than `LONGEST_STRING`, also where its length is a varint.
* Names must be UTF-8: for broken UTF-8, Java and Python write different numbers of U+FFFD.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from proxy.protocol.emit.lengths import charge, counted, end_slice, read_length, unless_absent, unless_null
from proxy.protocol.emit.shared import FEW
from proxy.protocol.emit.source import Source, length_letter, letters, runs, width
from proxy.protocol.emit.tags import by_tag, each_tag, tag_count
from proxy.protocol.plan import Fixed, Many, Move, Nested, Plan, PlanStep, Varying
from proxy.protocol.wire import BYTES, LONGEST_STRING, RECORDS, UUID


def read_struct(src: Source, plan: Plan, target: str) -> None:
    """Read a struct into the local name `target`."""
    src.add(f"{target} = new({src.name(plan.struct.__name__, plan.struct)})")
    for run in runs(plan.steps):
        read_run(src, run, target)
    if plan.flexible:
        read_tags(src, plan.tags, target)


def read_run(src: Source, run: list[PlanStep], target: str) -> None:
    """Read one run of fields into the struct `target`."""
    first = run[0].move
    if not isinstance(first, Fixed):
        read(src, first, f"{target}.{run[0].field.name}")
        return
    fmt = letters(run)
    targets = ", ".join(f"{target}.{step.field.name}" for step in run)
    comma = "," if len(run) == 1 else ""
    src.add(f"{targets}{comma} = {src.unpack(fmt)}(buf, p)", f"p += {width(run)}")


def read(src: Source, move: Move, target: str | None) -> None:
    """Read one value into `target`, or go over it if `target` is None."""
    if isinstance(move, Varying):
        read_varying(src, move, target)
    elif isinstance(move, Many):
        read_many(src, move, target)
    elif isinstance(move, Nested):
        read_nested(src, move, target)
    elif target is None:
        src.add(f"p += {move.least}")
    else:
        src.add(f"{target}, = {src.unpack(move.primitive.fmt or '')}(buf, p)", f"p += {move.least}")


def read_varying(src: Source, move: Varying, target: str | None) -> None:
    """A string, bytes or records."""
    wide = length_letter(move)
    n = read_length(src, move.compact, wide, None if move.primitive in (BYTES, RECORDS) else LONGEST_STRING)
    with unless_null(src, n, move.compact, move.nullable, target):
        span = f"p + {n} - 1" if move.compact else f"p + {n}"
        if target is None:
            src.add(f"p = {span}")
            return
        src.add(f"q = {span}")
        with src.block("if q > end:"):
            src.add("raise Short")
        if move.primitive is BYTES:
            src.add(f"{target} = {_copied(src, 'buf[p:q]')}")
        elif move.primitive is RECORDS:
            src.add(f"{target} = memoryview(buf)[p:q]")
        elif move.is_name:
            src.add(f'{target} = str(buf[p:q], "utf-8")')
        else:
            # As Kafka does: bytes that are no UTF-8 become U+FFFD.
            src.add(f'{target} = str(buf[p:q], "utf-8", "replace")')
        src.add("p = q")


def read_many(src: Source, move: Many, target: str | None) -> None:
    """An array."""
    element = move.element
    if isinstance(element, Fixed) and element.primitive is not UUID and target:
        read_numbers(src, move, element, target)
        return
    with counted(src, move, target) as n:
        if isinstance(element, Fixed):
            if target:
                one = _copied(src, "buf[i : i + 16]")
                src.add(f"{target} = [{one} for i in range(p, p + {n} * 16, 16)]")
            src.add(f"p += {n} * {element.least}")
            return
        items = src.fresh("items")
        if target:
            src.add(f"{items} = []")
        with src.block(f"for _ in range({n}):"):
            end_slice(src)
            item = src.fresh("o") if target else None
            read(src, element, item)
            if target:
                src.add(f"{items}.append({item})")
        if target:
            src.add(f"{target} = {items}")


def read_numbers(src: Source, move: Many, element: Fixed, target: str) -> None:
    """An array of numbers: a few are read with their count in one call, more take the long way."""
    fmt = element.primitive.fmt
    long_way = f'{target}, p = read_numbers(buf, p, "{fmt}", {move.compact}, {move.nullable})'
    if src.sliced:
        sliced = f'slice_numbers(buf, p, "{fmt}", {move.compact}, {move.nullable}, room, {move.units})'
        long_way = f"{target}, p, room = yield from {sliced}"
    if not move.compact:
        src.add(long_way)
        return
    n = src.fresh("n")
    src.add(f"{n} = buf[p]")
    with src.block(f"if 0 < {n} < {FEW}:"):
        charge(src, f"({n} - 1)", move.units, partitions=True)
        src.add(f"{target} = [*READ_FEW_{fmt}[{n}](buf, p)]", f"p += {n} * {element.least} - {element.least - 1}")
    with src.block("else:"):
        src.add(long_way)


def _copied(src: Source, span: str) -> str:
    """A span as bytes of its own."""
    return f"bytes({span})" if src.sliced else span


def read_nested(src: Source, move: Nested, target: str | None) -> None:
    """A struct in a struct."""
    with unless_absent(src, move.nullable, target):
        if target is None:
            skip_struct(src, move.plan)
            return
        inner = target if "." not in target else src.fresh("o")
        read_struct(src, move.plan, inner)
        if inner != target:
            src.add(f"{target} = {inner}")


def skip_struct(src: Source, plan: Plan) -> None:
    """Go over a struct."""
    skip_steps(src, plan.steps)
    if plan.flexible:
        skip_tags(src, plan.tags)


def skip_steps(src: Source, steps: Iterable[PlanStep]) -> None:
    """Go over some fields."""
    for run in runs(steps):
        if isinstance(run[0].move, Fixed):
            src.add(f"p += {width(run)}")
        else:
            read(src, run[0].move, None)


def skip_tags(src: Source, known: Collection[PlanStep]) -> None:
    """Go over the tagged fields that end a struct."""
    n = tag_count(src)
    with src.block(f"if {n}:"), each_tag(src, n) as (tag, stop):
        for step in by_tag(src, known, tag):
            if step is None:
                src.add(f"p = {stop}")
            else:
                read(src, step.move, None)


def read_tags(
    src: Source, known: Collection[PlanStep], target: str, picked: Collection[PlanStep] | None = None
) -> None:
    """Read the tagged fields that end a struct: the picked ones (None: all known) as fields, the others as bytes."""
    n = tag_count(src)
    with src.block(f"if {n}:"):
        others, start = src.fresh("others"), src.fresh("start")
        src.add(f"{others} = []")
        with each_tag(src, n) as (tag, stop):
            src.add(f"{start} = p")
            for step in by_tag(src, known, tag):
                if step is None:
                    src.add(f"p = {stop}")
                elif picked is None or step in picked:
                    read(src, step.move, f"{target}.{step.field.name}")
                    continue
                else:
                    read(src, step.move, None)
                src.add(f"{others}.append(({tag}, bytes(buf[{start}:p])))")
        src.add(f"{target}.unknown_tags = {others}")
    with src.block("else:"):
        src.add(f"{target}.unknown_tags = ()")
