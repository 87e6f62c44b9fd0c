"""Moves -> lines that note where some fields lie, and go over all else.

# Fields are meant by name, at any depth. Of one with a length, what follows the length is noted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from proxy.protocol.emit.read import read, read_length, skip_tags, unless_null
from proxy.protocol.emit.source import Source, length_letter
from proxy.protocol.plan import Fixed, Many, Move, Nested, Plan, Step, Varying


def note_steps(src: Source, steps: Iterable[Step], names: Collection[str]) -> None:
    """Go over some fields; `note` is called with where each value begins and ends."""
    for step in steps:
        _note_field(src, step, names)


def _note_struct(src: Source, plan: Plan, names: Collection[str]) -> None:
    note_steps(src, plan.steps, names)
    if plan.flexible:
        skip_tags(src)


def _note_field(src: Source, step: Step, names: Collection[str]) -> None:
    move = step.move
    if step.field.name not in names:
        _note_inside(src, move, names)
    elif isinstance(move, Fixed):
        src.add(f"note((p, p + {move.least}))", f"p += {move.least}")
    elif isinstance(move, Varying):
        n = read_length(src, move.compact, length_letter(move))
        with unless_null(src, n, move.compact, move.nullable, None):
            src.add(f"q = p + {n}{' - 1' if move.compact else ''}", "note((p, q))", "p = q")
    else:
        raise TypeError(f"{step.field.name} is not one value")


def _note_inside(src: Source, move: Move, names: Collection[str]) -> None:
    inner = move.element if isinstance(move, Many) else move
    if not isinstance(inner, Nested) or not _has(inner.plan, names):
        read(src, move, None)
    elif isinstance(move, Many):
        n = read_length(src, move.compact, "i")
        with unless_null(src, n, move.compact, move.nullable, None):
            if move.compact:
                src.add(f"{n} -= 1")
            with src.block(f"if {n} * {inner.least} > end - p:"):
                src.add("raise Short")
            with src.block(f"for _ in range({n}):"):
                _note_struct(src, inner.plan, names)
    else:
        assert not inner.nullable, "no message has such a struct"
        _note_struct(src, inner.plan, names)


def _has(plan: Plan, names: Collection[str]) -> bool:
    for step in plan.steps:
        inner = step.move.element if isinstance(step.move, Many) else step.move
        if step.field.name in names or (isinstance(inner, Nested) and _has(inner.plan, names)):
            return True
    return False
