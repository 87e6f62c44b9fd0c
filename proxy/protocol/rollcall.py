"""Roll call: of a message only some names are looked at, and told which of them nobody knows.

    strangers = rollcall(ProduceRequest, 11, "name", "topic_id", begins_at="topic_data")
    strangers(frame, 0, begins, known)      # [] where all are known

Rules:
* It goes over a message as far as to the last of the names: what follows need not even have come.
* Of a message with tagged fields it says nothing: which of them are known, and what they mean, is for whoever reads it.
* Plain Python takes 0.5 us a name, `_rollcall.c` 0.015: it goes by a program (`programs.py`), and gives the same
  (tests hold both against each other). It is compiled where pip finds a compiler; elsewhere only speed is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import cache
from typing import Any, Protocol

from proxy.protocol import emit
from proxy.protocol.codec import laid_out
from proxy.protocol.emit.spans import marked
from proxy.protocol.frame import Buffer
from proxy.protocol.plan import Fixed, Plan, Step, Varying
from proxy.protocol.programs import ProgramSteps, operands, over, program
from proxy.protocol.schema import Message

try:
    from proxy.protocol import _rollcall as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]


class Known(Protocol):
    """Values that are known."""

    def add(self, value: bytes, /) -> None:
        """Know this one."""

    def clear(self) -> None:
        """Know none."""

    def __len__(self) -> int: ...


Strangers = Callable[[Buffer, int, bytes, Any], list[bytes] | None]


def nobody() -> Known:
    """No values, to which `rollcall` takes more."""
    return set() if compiled is None else compiled.Known()


@cache
def rollcall(
    cls: type[Message], version: int, *names: str, begins_at: str = "", ends_at: str = "", whole: bool = False
) -> Strangers:
    """A function from bytes, where in them a message begins, how, and what is known: to the values that are not.

    How it begins is what there must be before its field `begins_at` (nothing, without one), or before itself too. The
    values are those of the fields of these names, at any depth; it may look at no other (a name is no struct). Nothing
    behind the field `ends_at` is looked at. `whole`: the message is gone over to its end. None: it begins otherwise, or
    tagged fields were found. What the function raises for bytes that end too early is codec.BAD_BYTES.
    """
    if compiled is None:
        return plain(cls, version, *names, begins_at=begins_at, ends_at=ends_at, whole=whole)
    layout, _ = _rest(cls, version, begins_at, ends_at)
    return compiled.RollCall(program(_struct(layout, frozenset(names), final=not whole))).strangers


def plain(
    cls: type[Message], version: int, *names: str, begins_at: str = "", ends_at: str = "", whole: bool = False
) -> Strangers:
    """The same in Python; what is known is a set."""
    layout, title = _rest(cls, version, begins_at, ends_at)
    strangers: Strangers = emit.caller(layout, frozenset(names), title, whole=whole)
    return strangers


def _rest(cls: type[Message], version: int, begins_at: str, ends_at: str) -> tuple[Plan, str]:
    """How a message is laid out from this field on, and as far as to the end of that one."""
    layout, title = laid_out(cls, version)
    if ends_at:
        layout = layout._replace(flexible=False, steps=layout.steps[: layout.place(ends_at) + 1])
        title = f"{title} as far as {ends_at}"
    if not begins_at:
        return layout, title
    return layout._replace(steps=layout.steps[layout.place(begins_at) :]), f"{title} from {begins_at}"


class Opcode(IntEnum):
    """What a step does beside going over something. The same stands in `_rollcall.c`."""

    NAME = 6  # as BYTES
    FIXED_NAME = 7  # as SKIP
    LAST = 8  # no name follows after this one, in the last element of each array
    BARE = 9  # there must be no tags


def _struct(plan: Plan, names: frozenset[str], *, final: bool) -> ProgramSteps:
    steps: ProgramSteps = []
    for step, is_last in marked(plan.steps, names):
        steps += _field(step, names, final=final and is_last)
    return [*steps, (Opcode.BARE, ())] if plan.flexible else steps


def _field(step: Step, names: frozenset[str], *, final: bool) -> ProgramSteps:
    move = step.move
    if step.field.name not in names:
        return over(move, lambda plan: _struct(plan, names, final=final))
    last: ProgramSteps = [(Opcode.LAST, ())] if final else []
    if isinstance(move, Fixed):
        return [(Opcode.FIXED_NAME, operands(move)), *last]
    if isinstance(move, Varying):
        return [(Opcode.NAME, operands(move)), *last]
    raise TypeError(f"{step.field.name} is not one value")
