"""Roll call: looks at some names in a message, and at nothing else, and returns those that are not known.

    strangers = rollcall(ProduceRequest, 11, "name", "topic_id", begins_at="topic_data")
    strangers(frame, 0, begins, known)      # [] if all are known

Rules:
* It goes over a message up to the last of the names: the bytes after it need not even have come.
* It says nothing about a message with tagged fields: only reading the message shows which are known and what they mean.
* Others wait meanwhile, so it looks at so many names at most, in about 2 ms: 20,000 in C, 5,000 in plain Python.
* Plain Python takes 0.5 us a name, `_rollcall.c` 0.015. The C code follows a program (`programs.py`) and gives the same
  result (tests compare both). It is compiled if pip finds a compiler; otherwise only speed is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import cache
from typing import Any, Protocol

from proxy.protocol.codec import laid_out
from proxy.protocol.emit import finders
from proxy.protocol.emit.spans import marked
from proxy.protocol.frame import Buffer
from proxy.protocol.plan import Fixed, Plan, PlanStep, Varying
from proxy.protocol.programs import ProgramSteps, operands, over, program
from proxy.protocol.schema import Message

try:
    from proxy.protocol import _rollcall as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]


class Known(Protocol):
    """Values that are known."""

    def add(self, value: bytes, /) -> None:
        """Add a known value."""

    def clear(self) -> None:
        """Forget all values."""

    def __len__(self) -> int: ...


FindStrangers = Callable[[Buffer, int, bytes, Any], list[bytes] | None]


def nobody() -> Known:
    """An empty set of known values, for `rollcall`."""
    return set() if compiled is None else compiled.Known()


@cache
def rollcall(
    cls: type[Message], version: int, *names: str, begins_at: str = "", ends_at: str = "", whole: bool = False
) -> FindStrangers:
    """A function `(data, start, begins, known)` to the values that are not known.

    `begins` are the bytes that must stand at `start`, before the field `begins_at`; without `begins_at` they stand
    before the message. The values are those of the fields of these names, at any depth; each must be a single value, no
    array or struct. Nothing behind the field `ends_at` is looked at. `whole`: the function goes over the message to its
    end. None: other bytes stand at `start`, or tagged fields were found. If the bytes end too early, or there
    are too many names, the function raises one of codec.BAD_BYTES.
    """
    if compiled is None:
        return plain(cls, version, *names, begins_at=begins_at, ends_at=ends_at, whole=whole)
    layout, _ = _rest(cls, version, begins_at, ends_at)
    return compiled.RollCall(program(_struct(layout, frozenset(names), final=not whole))).strangers


def plain(
    cls: type[Message], version: int, *names: str, begins_at: str = "", ends_at: str = "", whole: bool = False
) -> FindStrangers:
    """The same in Python; `known` is a set."""
    layout, title = _rest(cls, version, begins_at, ends_at)
    strangers: FindStrangers = finders.caller(layout, frozenset(names), title, whole=whole)
    return strangers


def _rest(cls: type[Message], version: int, begins_at: str, ends_at: str) -> tuple[Plan, str]:
    """The layout of a message from the field `begins_at` to the end of the field `ends_at`."""
    layout, title = laid_out(cls, version)
    if ends_at:
        layout = layout._replace(flexible=False, steps=layout.steps[: layout.place(ends_at) + 1])
        title = f"{title} as far as {ends_at}"
    if not begins_at:
        return layout, title
    return layout._replace(steps=layout.steps[layout.place(begins_at) :]), f"{title} from {begins_at}"


class Opcode(IntEnum):
    """What a step does beside going over bytes. `_rollcall.c` has the same numbers."""

    NAME = 6  # as BYTES
    FIXED_NAME = 7  # as SKIP
    LAST = 8  # no name follows this one, if each array around it is at its last element
    BARE = 9  # there must be no tags


def _struct(plan: Plan, names: frozenset[str], *, final: bool) -> ProgramSteps:
    steps: ProgramSteps = []
    for step, is_last in marked(plan.steps, names):
        steps += _field(step, names, final=final and is_last)
    return [*steps, (Opcode.BARE, ())] if plan.flexible else steps


def _field(step: PlanStep, names: frozenset[str], *, final: bool) -> ProgramSteps:
    move = step.move
    if step.field.name not in names:
        return over(move, lambda plan: _struct(plan, names, final=final))
    last: ProgramSteps = [(Opcode.LAST, ())] if final else []
    if isinstance(move, Fixed):
        return [(Opcode.FIXED_NAME, operands(move)), *last]
    if isinstance(move, Varying):
        return [(Opcode.NAME, operands(move)), *last]
    raise TypeError(f"{step.field.name} is not one value")
