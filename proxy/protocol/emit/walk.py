"""Moves -> lines that go over a message which comes in pieces: a generator that asks for each next piece.

Rules:
* `buf, p, end = yield p` is the only way to more bytes. A `p` behind `end`: the bytes up to there need not be looked
  at. A `p` before `end`: the bytes from there on were too few to read, and are given again with those that follow.
* Only lengths, counts and tags are read: all else is skipped without looking at it.
* Each turn of a loop reads at least one byte, so that the caller can stop a count that is too large.
"""

from __future__ import annotations

from collections.abc import Iterable

from proxy.protocol.emit.source import WIDTH, Source, length_letter
from proxy.protocol.plan import Fixed, Many, Move, Nested, Plan, PlanStep, Varying


def walk_steps(src: Source, steps: Iterable[PlanStep]) -> None:
    """Go over some fields."""
    for step in steps:
        walk(src, step.move)


def walk(src: Source, move: Move) -> None:
    """Go over one value."""
    if isinstance(move, Fixed):
        src.add(f"p += {move.least}")
    elif isinstance(move, Nested):
        _nested(src, move)
    elif isinstance(move, Varying):
        src.add(f"p += {_length(src, move.compact, length_letter(move))}")
    else:
        _many(src, move)


def _need(src: Source, count: int) -> None:
    with src.block(f"while p + {count} > end:"):
        src.add("buf, p, end = yield p")


def _uvarint(src: Source) -> str:
    n = src.fresh("n")
    _need(src, 1)
    src.add(f"{n} = buf[p]", "p += 1")
    with src.block(f"if {n} > 127:"):
        src.add(f"{n} &= 127", "shift, byte = 7, 128")
        with src.block("while byte > 127:"):
            with src.block("if shift > 28:"):
                src.add("raise Short")
            _need(src, 1)
            src.add("byte = buf[p]", "p += 1", f"{n} |= (byte & 127) << shift", "shift += 7")
    return n


def _length(src: Source, compact: bool, letter: str) -> str:
    """Read a length or count into a fresh name; 0 for null."""
    if compact:
        n = _uvarint(src)
        with src.block(f"if {n}:"):
            src.add(f"{n} -= 1")
        return n
    n = src.fresh("n")
    _need(src, WIDTH[letter])
    src.add(f"{n} = max({src.unpack(letter)}(buf, p)[0], 0)", f"p += {WIDTH[letter]}")
    return n


def _many(src: Source, move: Many) -> None:
    n = _length(src, move.compact, "i")
    element = move.element
    if isinstance(element, Fixed) or (isinstance(element, Nested) and _is_fixed(element.plan)):
        src.add(f"p += {n} * {element.least}")
        return
    with src.block(f"for _ in range({n}):"):
        walk(src, element)


def _is_fixed(plan: Plan) -> bool:
    return not plan.flexible and all(isinstance(step.move, Fixed) for step in plan.steps)


def _nested(src: Source, move: Nested) -> None:
    if not move.nullable:
        _struct(src, move.plan)
        return
    _need(src, 1)
    src.add("p += 1")
    with src.block("if buf[p - 1] < 128:"):  # a signed byte: below 0 is null
        _struct(src, move.plan)


def _struct(src: Source, plan: Plan) -> None:
    walk_steps(src, plan.steps)
    if plan.flexible:
        n = _uvarint(src)
        with src.block(f"for _ in range({n}):"):
            _uvarint(src)
            src.add(f"p += {_uvarint(src)}")
