"""Tally: counts what was written to, or read from, each partition, without reading requests and answers in Python.

    layouts = traffic(ProduceRequest, ProduceResponse, 11)
    tally = layouts.tally()
    tally.know(b"orders", 0)
    exchange = layouts.ask(tally, data, begin, size, header, came)      # None: read it
    layouts.answer(exchange, data, begin, end, answered, left, at)      # count it; False: read it
    layouts.tell(exchange, data, begin, end, answered, left)            # or get its numbers alone; None: read it
    tally.take()

Rules:
* Only `_tally.c` counts. Without a compiler every message is read, with the same result in twenty times the time. Tests
  compare the counted numbers with those that are read.
* Only plain exchanges are counted: known partitions, each named once, without errors, tagged fields, old message sets
  or a transaction. Of any other exchange nothing is counted, and the caller reads it.
* Of records only the headers of batches are looked at. Of a request's last batch only the header need have come.
* Counting follows a program (`programs.py`). The meaning of a field in the schema says what a tally does with it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from proxy.protocol.codec import laid_out
from proxy.protocol.frame import Buffer
from proxy.protocol.header import ResponseHeader
from proxy.protocol.plan import Fixed, Move, Nested, Plan, PlanStep, Varying, plan
from proxy.protocol.programs import Over, ProgramSteps, operands, over, program
from proxy.protocol.schema import Message, Request, Response
from proxy.protocol.wire import Meaning

if TYPE_CHECKING:
    from proxy.protocol._tally import Exchange, Tally
else:
    Exchange = Tally = Any

try:
    from proxy.protocol import _tally as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]

CompiledExchange: TypeAlias = Exchange
CompiledTally: TypeAlias = Tally
ElementCount = Callable[[Buffer, int, int], int | None]


class TallyOpcode(IntEnum):
    """What a step does beside going over bytes. `_tally.c` has the same numbers."""

    BARE = 5  # there must be no tags
    ROWS = 6  # as STRUCTS: the partitions of a topic; there must be at least one
    ROW = 7  # a partition ends
    TOPIC = 8  # as BYTES
    TOPIC_ID = 9  # as SKIP
    PARTITION = 10  # as SKIP; so are those below, unless they say otherwise
    ERROR = 11  # must be 0
    BASE_OFFSET = 12
    RECORDS = 13  # as BYTES
    NULLED = 14  # must be null; operand: the width of its length
    ACKS = 15  # must not be 0


BY_MEANING = {
    Meaning.TOPIC_NAME: TallyOpcode.TOPIC,
    Meaning.TOPIC_ID: TallyOpcode.TOPIC_ID,
    Meaning.PARTITION: TallyOpcode.PARTITION,
    Meaning.ERROR: TallyOpcode.ERROR,
    Meaning.RECORDS: TallyOpcode.RECORDS,
    Meaning.TRANSACTIONAL_ID: TallyOpcode.NULLED,
}
BY_NAME = {"acks": TallyOpcode.ACKS, "base_offset": TallyOpcode.BASE_OFFSET}


class TrafficLayouts(NamedTuple):
    """How requests of an API in a version, and their answers, are counted.

    `tell` returns numbers of eight bytes, in the machine's byte order: correlation id, bytes of request and answer,
    microseconds of broker and proxy; then for each partition the number of its cell (as `Tally.know` gave it), its own
    number, bytes (-1: no records), records, first and last offset and timestamp.
    """

    tally: Callable[[], Tally]
    ask: Callable[[Tally, Buffer, int, int, bytes, float], Exchange | None]
    answer: Callable[[Exchange, Buffer, int, int, float, float, float], bool]
    tell: Callable[[Exchange, Buffer, int, int, float, float], bytes | None]


@cache
def traffic(request: type[Request], response: type[Response], version: int) -> TrafficLayouts | None:
    """The layouts for Produce or Fetch. None: the C code is not compiled."""
    if compiled is None:
        return None
    asked, told = laid_out(request, version)[0], laid_out(response, version)[0]
    header = plan(ResponseHeader, response.api.response_header(version))
    header = header._replace(steps=header.steps[1:])  # the correlation id was read
    ask = compiled.Layout(program(_struct(asked, is_counted=True, is_request=True)))
    answer = compiled.Layout(program([*_struct(header), *_struct(told, is_counted=True)]))
    return TrafficLayouts(compiled.Tally, ask.ask, answer.answer, answer.tell)


@cache
def element_counter(cls: type[Message], version: int, names: frozenset[str] | None = None) -> ElementCount:
    """A function `(data, start, most)`: how many elements the arrays have in the message that begins at `start`.

    Those behind the last of the top-level fields `names` are left out: a picker does not go over them. `slices.py` says
    how elements are counted. None: there are more than `most`, or it is not known (tagged fields were found, or the C
    code is not compiled). If the bytes end too early, the function raises one of codec.BAD_BYTES.
    """
    if compiled is None:
        return _not_counted
    layout, _ = laid_out(cls, version)
    if names is not None and not any(step.field.name in names for step in layout.tags):
        last = max((at for at, step in enumerate(layout.steps, 1) if step.field.name in names), default=0)
        layout = layout._replace(flexible=False, steps=layout.steps[:last])
    return compiled.Layout(program(_struct(layout))).elements


def _not_counted(message: Buffer, start: int, most: int) -> None:
    """Counting would take as long as reading does."""


def _struct(layout: Plan, *, is_counted: bool = False, is_request: bool = False) -> ProgramSteps:
    def struct(inner: Plan) -> ProgramSteps:
        return _struct(inner, is_counted=is_counted, is_request=is_request)

    def array(element: Move) -> IntEnum:
        is_rows = is_request and isinstance(element, Nested) and _is_partition(element.plan)
        return TallyOpcode.ROWS if is_rows else Over.STRUCTS

    steps: ProgramSteps = []
    for step in layout.steps:
        role, move = _role(step) if is_counted else None, step.move
        if role is not None and isinstance(move, Fixed | Varying):
            steps.append((role, operands(move)))
        else:
            steps += over(move, struct, array)
    if layout.flexible:
        steps.append((TallyOpcode.BARE, ()))
    return [*steps, (TallyOpcode.ROW, ())] if is_counted and _is_partition(layout) else steps


def _role(step: PlanStep) -> TallyOpcode | None:
    """What a tally does with this field."""
    if not isinstance(step.move, Fixed | Varying):
        return None
    role = BY_NAME.get(step.field.name)
    return role if role is not None or step.field.meaning is None else BY_MEANING.get(step.field.meaning)


def _is_partition(layout: Plan) -> bool:
    return any(_role(step) is TallyOpcode.PARTITION for step in layout.steps)
