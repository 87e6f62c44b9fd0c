"""Moves -> lines that write.

Rules:
* A message is written as Kafka writes it: a tagged field at its default is left out, tags ascend, lengths are minimal.
* A sliced writer moves its `pieces` to `done` after each slice; `left` is how much of the slice is left.
* Nothing is checked twice: a value that does not fit raises where Python notices it, and `codec.py` finds the field.
"""

from __future__ import annotations

from collections.abc import Collection

from proxy.protocol.emit.shared import FEW
from proxy.protocol.emit.source import Source, length_letter, letters, runs
from proxy.protocol.plan import Fixed, Many, Move, Nested, Plan, PlanStep, Varying
from proxy.protocol.slices import WRITTEN
from proxy.protocol.wire import BYTES, RECORDS, UUID


def write_struct(src: Source, plan: Plan, source: str) -> None:
    """Write the struct in the local name `source`; `add` takes each piece of bytes."""
    write_steps(src, plan.steps, source)
    if plan.flexible:
        write_tags(src, plan.tags, source)


def write_steps(src: Source, steps: Collection[PlanStep], source: str) -> None:
    """Write some fields."""
    for run in runs(steps):
        values = [f"{source}.{step.field.name}" for step in run]
        if isinstance(run[0].move, Fixed):
            src.add(f"add({src.pack(letters(run))}({', '.join(values)}))")
        else:
            write(src, run[0].move, values[0])


def write(src: Source, move: Move, value: str) -> None:
    """Write one value."""
    if isinstance(move, Fixed):
        src.add(f"add({src.pack(move.primitive.fmt or '')}({value}))")
        return
    name = src.fresh("v")
    src.add(f"{name} = {value}")
    if move.nullable:
        null = 'b"\\xff"' if isinstance(move, Nested) else _null(move)
        with src.block(f"if {name} is None:"):
            src.add(f"add({null})")
        with src.block("else:"):
            _present(src, move, name)
    else:
        _present(src, move, name)


def _null(move: Varying | Many) -> str:
    if move.compact:
        return 'b"\\0"'
    wide = isinstance(move, Many) or length_letter(move) == "i"
    return 'b"\\xff\\xff\\xff\\xff"' if wide else 'b"\\xff\\xff"'


def _present(src: Source, move: Varying | Nested | Many, name: str) -> None:
    if isinstance(move, Varying):
        if move.primitive not in (BYTES, RECORDS):
            src.add(f"{name} = {name}.encode()")
        _length(src, name, move.compact, length_letter(move))
        src.add(f"add({name})")
        if src.sliced:
            src.add(f"left -= len({name}) >> 8")
    elif isinstance(move, Nested):
        if move.nullable:
            src.add('add(b"\\1")')
        write_struct(src, move.plan, name)
    elif isinstance(move.element, Fixed) and move.element.primitive is not UUID:
        _numbers(src, move.element, move.compact, name)
    else:
        _length(src, name, move.compact, "i")
        _elements(src, move.element, name)


def _length(src: Source, name: str, compact: bool, wide: str) -> None:
    if compact:
        src.add(f"n = len({name}) + 1", "add(UVARINT[n] if n < 1024 else uvarint(n))")
    else:
        src.add(f"add({src.pack(wide)}(len({name})))")


def _elements(src: Source, element: Fixed | Varying | Nested, name: str) -> None:
    if isinstance(element, Fixed):  # only uuids: numbers are written with their count
        src.add(f'add(b"".join({name}))')
        return
    item = src.fresh("o")
    with src.block(f"for {item} in {name}:"):
        if src.sliced:
            src.add(f"left -= {_fields(element)}")
            with src.block("if left < 0:"):
                src.add("collected(pieces, done)", f"left = {WRITTEN}", "yield")
        if isinstance(element, Nested):
            write_struct(src, element.plan, item)
        else:
            write(src, element, item)


def _fields(move: Move) -> int:
    """How many fields are written for this one. The elements of arrays are counted as they come."""
    if not isinstance(move, Nested):
        return 1
    return 1 + sum(_fields(step.move) for step in (*move.plan.steps, *move.plan.tags))


def _numbers(src: Source, element: Fixed, compact: bool, name: str) -> None:
    fmt = element.primitive.fmt
    long_way = f'add(write_numbers({name}, "{fmt}", {compact}))'
    if src.sliced:
        long_way = f'yield from write_slices({name}, "{fmt}", {compact}, add)'
    if not compact:
        src.add(long_way)
        return
    src.add(f"n = len({name})")
    with src.block(f"if n < {FEW - 1}:"):
        src.add(f"add(WRITE_FEW_{fmt}[n](n + 1, *{name}))")
    with src.block("else:"):
        src.add(long_way)


def write_tags(src: Source, known: Collection[PlanStep], source: str) -> None:
    """Write the tagged fields that end a struct: the known ones that are not at their default, and the unknown ones."""
    tags = src.fresh("tags")
    src.add(f"{tags} = {source}.unknown_tags" if not known else f"{tags} = [*{source}.unknown_tags]")
    for step in known:
        _known_tag(src, step, source, tags)
    with src.block(f"if {tags}:"):
        src.add(f"write_tags(add, {tags})")
    with src.block("else:"):
        src.add('add(b"\\0")')


def _known_tag(src: Source, step: PlanStep, source: str, tags: str) -> None:
    # The slot is read directly: Struct.__getattr__ would make a default, only to be compared with the default.
    struct, field = step.struct, step.field
    value, default = src.fresh("t"), src.fresh("default")
    slot = src.name(f"{struct.__name__}_{field.name}", getattr(struct, field.name).__get__)
    src.names[default] = field.default()
    with src.block("try:"):
        src.add(f"{value} = {slot}({source})")
    with src.block("except AttributeError:"):
        src.add("pass")
    with src.block("else:"), src.block(f"if {value} != {default}:"):
        outer = src.fresh("add")
        src.add(f"{outer} = add", f"{value}_out = []", f"add = {value}_out.append")
        write(src, step.move, value)
        src.add(f"add = {outer}", f'{tags}.append(({step.field.tag}, b"".join({value}_out)))')
