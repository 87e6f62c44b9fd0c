"""Programs: by which compiled code goes over a message, made of the plan of the message.

Rules:
* A program is a row of numbers: steps, each an operation and its operands, those of what lies in it right behind it.
* The operations that only go over what lies there are the same for all (`Over`). Who looks at something has others of
  its own beside them (`rollcall.py`, `tally.py`), with numbers that are not in `Over`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from proxy.protocol.emit.source import length_letter
from proxy.protocol.plan import Fixed, Move, Nested, Plan, Varying


class Over(IntEnum):
    """What a step goes over. The same stands in `_rollcall.c` and `_tally.c`."""

    SKIP = 0  # so many bytes
    BYTES = 1  # of a length; operands: its width, nullable
    NUMBERS = 2  # an array; operands: the width of its count, nullable, size of each, units of each (`slices.py`)
    STRUCTS = 3  # an array; operands: the width of its count, nullable, least size of each, steps over each
    MAYBE = 4  # a struct that may be null; operand: steps over it


OPERANDS = 4
COMPACT = 0  # a width; the others are in bytes
WIDTH = {"h": 2, "i": 4}

ProgramSteps = list[tuple[IntEnum, tuple[int, ...]]]


def program(steps: ProgramSteps) -> tuple[int, ...]:
    """The row of numbers."""
    numbers: list[int] = []
    for operation, operands in steps:
        numbers += operation, *operands, *[0] * (OPERANDS - len(operands))
    return tuple(numbers)


def operands(move: Fixed | Varying) -> tuple[int, ...]:
    """Those of a step over one value: its size, or the width of its length and whether it is nullable."""
    if isinstance(move, Fixed):
        return (move.least,)
    return COMPACT if move.compact else WIDTH[length_letter(move)], move.nullable


def over(
    move: Move,
    struct: Callable[[Plan], ProgramSteps],
    array: Callable[[Move], IntEnum] = lambda element: Over.STRUCTS,
) -> ProgramSteps:
    """Steps over a value. `struct` gives those over a struct in it, `array` the operation for an array of these."""
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
