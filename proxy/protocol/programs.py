"""Programs: instructions for C code to go over a message, made from the plan of the message.

Rules:
* A program is a sequence of numbers: steps, each an operation and its operands. The steps for the content of a struct
  or an array come right behind its own step.
* All programs share the operations that only go over bytes (`Over`). Modules that look at values (`rollcall.py`,
  `tally.py`) have operations of their own, with numbers that are not in `Over`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from proxy.protocol.emit.source import WIDTH, length_letter
from proxy.protocol.plan import Fixed, Move, Nested, Plan, Varying


class Over(IntEnum):
    """What a step goes over. `_rollcall.c` and `_tally.c` have the same numbers."""

    SKIP = 0  # bytes; operand: how many
    BYTES = 1  # bytes after a length; operands: the width of the length, nullable
    NUMBERS = 2  # an array; operands: the width of its count, nullable, size of each, units of each (`slices.py`)
    STRUCTS = 3  # an array; operands: the width of its count, nullable, least size of each, steps over each
    MAYBE = 4  # a struct that may be null; operand: steps over it


OPERANDS = 4
COMPACT = 0  # the width of a compact length; other widths are in bytes

ProgramSteps = list[tuple[IntEnum, tuple[int, ...]]]


def program(steps: ProgramSteps) -> tuple[int, ...]:
    """The sequence of numbers."""
    numbers: list[int] = []
    for operation, operands in steps:
        numbers += operation, *operands, *[0] * (OPERANDS - len(operands))
    return tuple(numbers)


def operands(move: Fixed | Varying) -> tuple[int, ...]:
    """The operands of a step over one value: its size, or the width of its length and whether it is nullable."""
    if isinstance(move, Fixed):
        return (move.least,)
    return COMPACT if move.compact else WIDTH[length_letter(move)], move.nullable


def over(
    move: Move,
    struct: Callable[[Plan], ProgramSteps],
    array: Callable[[Move], IntEnum] = lambda element: Over.STRUCTS,
) -> ProgramSteps:
    """Steps over a value. `struct` gives the steps over a struct in it, `array` the operation for an array of these."""
    if isinstance(move, Fixed):
        return [(Over.SKIP, operands(move))]
    if isinstance(move, Varying):
        return [(Over.BYTES, operands(move))]
    if isinstance(move, Nested):
        body = struct(move.plan)
        return [(Over.MAYBE, (len(body),)), *body] if move.nullable else body
    count = (COMPACT if move.compact else WIDTH["i"], move.nullable)
    if isinstance(move.element, Fixed):
        return [(Over.NUMBERS, (*count, move.element.least, move.units))]
    body = over(move.element, struct, array)
    return [(array(move.element), (*count, move.element.least, len(body))), *body]
