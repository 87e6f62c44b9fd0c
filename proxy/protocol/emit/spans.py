"""Moves -> lines that find the values of some fields, and go over all else.

Rules:
* Fields are found by name, at any depth. The value of a field with a length is the part after the length.
* With `bare`, tagged fields in any struct end the search: it need not be known which of them Kafka knows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from proxy.protocol.emit.lengths import counted, read_length, unless_absent, unless_null
from proxy.protocol.emit.read import read, skip_tags
from proxy.protocol.emit.source import Source, length_letter
from proxy.protocol.plan import Fixed, Many, Move, Nested, Plan, PlanStep, Varying


class Noting(NamedTuple):
    """What the lines do about the fields of these names."""

    names: frozenset[str]
    found: Callable[[str, str], Sequence[str]]  # the lines for a value, by where it begins and ends
    result: str | None = None  # returned as soon as no other value can follow
    bare: bool = False  # None is returned if a struct has tagged fields


def note_steps(
    src: Source, steps: Collection[PlanStep], noting: Noting, loops: tuple[str, ...] = (), *, final: bool = True
) -> None:
    """Go over some fields.

    `loops`: for each array around these fields, the name that holds how many elements are still to come. `final`: no
    field with one of the names follows outside of these fields.
    """
    for step, is_last in marked(steps, noting.names):
        _note_field(src, step, noting, loops, final=final and is_last)


def marked(steps: Collection[PlanStep], names: Collection[str]) -> Iterator[tuple[PlanStep, bool]]:
    """Each step, and whether it is the last one that is or contains a field with one of the names."""
    last = max((i for i, step in enumerate(steps) if concerns(step, names)), default=None)
    for i, step in enumerate(steps):
        yield step, i == last


def concerns(step: PlanStep, names: Collection[str]) -> bool:
    """Is this field one of these names, or does it contain one?"""
    inner = step.move.element if isinstance(step.move, Many) else step.move
    return step.field.name in names or (isinstance(inner, Nested) and any(concerns(s, names) for s in inner.plan.steps))


def _note_struct(src: Source, plan: Plan, noting: Noting, loops: tuple[str, ...], *, final: bool) -> None:
    note_steps(src, plan.steps, noting, loops, final=final)
    if plan.flexible:
        note_tags(src, plan, noting)


def note_tags(src: Source, plan: Plan, noting: Noting) -> None:
    """Go over the tagged fields that end a struct."""
    if not noting.bare:
        skip_tags(src, plan.tags)
        return
    with src.block("if buf[p]:"):
        src.add("return None")
    src.add("p += 1")


def _note_field(src: Source, step: PlanStep, noting: Noting, loops: tuple[str, ...], *, final: bool) -> None:
    move = step.move
    if step.field.name not in noting.names:
        inner = move.element if isinstance(move, Many) else move
        if isinstance(inner, Nested) and (noting.bare or concerns(step, noting.names)):
            _note_inside(src, move, inner, noting, loops, final=final)
        else:
            read(src, move, None)
        return
    if isinstance(move, Fixed):
        src.add(f"q = p + {move.least}", *noting.found("p", "q"), "p = q")
    elif isinstance(move, Varying):
        n = read_length(src, move.compact, length_letter(move))
        with unless_null(src, n, move.compact, move.nullable, None):
            src.add(f"q = p + {n}{' - 1' if move.compact else ''}", *noting.found("p", "q"), "p = q")
    else:
        raise TypeError(f"{step.field.name} is not one value")
    if final and noting.result:
        with src.block(f"if not ({' or '.join(loops) or 0}):"):
            src.add(f"return {noting.result}")


def _note_inside(
    src: Source, move: Move, inner: Nested, noting: Noting, loops: tuple[str, ...], *, final: bool
) -> None:
    if not isinstance(move, Many):
        with unless_absent(src, inner.nullable, None):
            _note_struct(src, inner.plan, noting, loops, final=final)
        return
    with counted(src, move, None) as n:
        left = src.fresh("left")
        with src.block(f"for {left} in range({n} - 1, -1, -1):"):
            _note_struct(src, inner.plan, noting, (*loops, left), final=final)
