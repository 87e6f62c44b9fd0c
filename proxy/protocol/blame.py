"""Blame: finds whose fault it is and where, by reading or writing a message once more, slowly, field by field.

Printed code is fast because it does not know where it is. This code does, and only runs when something is wrong. It
runs in slices, since a stranger may send a large message that is wrong at its very end.
"""

from __future__ import annotations

import struct
from typing import Any

from proxy.protocol.emit.source import length_letter
from proxy.protocol.fiber import at_once
from proxy.protocol.plan import Fixed, Many, Move, Nested, Plan, PlanStep, Varying, plan
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.schema import Message, Struct
from proxy.protocol.slices import Pace, Sliced
from proxy.protocol.varint import Short, read_uvarint
from proxy.protocol.wire import BYTES, LONGEST_STRING, RECORDS

FAULT = {"request": Fault.CLIENT, "response": Fault.BROKER}


class _Found(Exception):  # noqa: N818 (a signal inside this module)
    """What is wrong, with which field, and where."""

    def __init__(self, what: str, field: str, position: int | None) -> None:
        self.what, self.field, self.position = what, field, position


def blame_bytes(cls: type[Message], version: int, body: bytes | memoryview) -> ProtocolError:
    """Why `body` is no such message."""
    return at_once(slice_blame_bytes(cls, version, body))


def slice_blame_bytes(cls: type[Message], version: int, body: bytes | memoryview) -> Sliced[ProtocolError]:
    """The same in slices."""
    fault, reader = FAULT.get(cls.side), _Reader(body)
    try:
        yield from reader.struct(plan(cls, version), "")
        if reader.p != len(body):
            raise _Found(f"{len(body) - reader.p} bytes too many", "", reader.p)
    except _Found as found:
        return _problem(found, fault, cls, version)
    return _problem(_Found("cannot be read", "", None), fault, cls, version)


def _problem(found: _Found, fault: Fault | None, cls: type[Message], version: int) -> ProtocolError:
    """The error for what was found. `found` is not kept: its traceback holds all that was read."""
    field, position = found.field or None, found.position
    return ProtocolError(found.what, fault=fault, api=cls.title(), version=version, field=field, position=position)


class _Reader:
    """Goes over a message field by field."""

    def __init__(self, body: bytes | memoryview) -> None:
        self.body, self.p, self.pace = body, 0, Pace()

    def take(self, n: int, path: str) -> bytes | memoryview:
        if n > len(self.body) - self.p:
            raise _Found(f"needs {n} bytes where {len(self.body) - self.p} are left", path, self.p)
        self.p += n
        return self.body[self.p - n : self.p]

    def uvarint(self, path: str) -> int:
        try:
            n, self.p = read_uvarint(self.body, self.p)
        except (Short, IndexError):
            raise _Found("has a length that is no varint", path, self.p) from None
        return n

    def length(self, move: Varying | Many, path: str) -> int | None:
        start = self.p
        if move.compact:
            n = self.uvarint(path) - 1
        else:
            letter = length_letter(move) if isinstance(move, Varying) else "i"
            (n,) = struct.unpack(">" + letter, self.take(struct.calcsize(">" + letter), path))
        if n >= 0:
            return n
        if not move.nullable:
            raise _Found("is null, and may not be", path, start)
        return None

    def struct(self, layout: Plan, path: str) -> Sliced[None]:
        for step in layout.steps:
            yield from self.value(step.move, path + step.field.name)
        if layout.flexible:
            yield from self.tags(layout.tags, path)

    def tags(self, known: tuple[PlanStep, ...], path: str) -> Sliced[None]:
        seen = set()
        for _ in range(self.uvarint(path + "tags")):
            if self.pace.is_due():
                yield
            start = self.p
            tag, size = self.uvarint(path + "tags"), self.uvarint(path + "tags")
            if tag in seen:
                raise _Found(f"has tag {tag} twice", path + "tags", start)
            seen.add(tag)
            step = next((step for step in known if step.field.tag == tag), None)
            stop = self.p + size
            if step is None or stop > len(self.body):
                self.take(size, f"{path}tag {tag}")
                continue
            yield from self.value(step.move, path + step.field.name)
            if self.p != stop:
                raise _Found(f"is not the {size} bytes that its tag says", path + step.field.name, self.p)

    def value(self, move: Move, path: str) -> Sliced[None]:
        if isinstance(move, Fixed):
            self.take(move.least, path)
        elif isinstance(move, Nested):
            if not move.nullable or self.take(1, path)[0] < 128:
                yield from self.struct(move.plan, path + ".")
        elif isinstance(move, Varying):
            start, size = self.p, self.length(move, path) or 0
            if size > LONGEST_STRING and move.primitive not in (BYTES, RECORDS):
                raise _Found(f"has {size} bytes, more than {LONGEST_STRING}", path, start)
            text = self.take(size, path)
            if move.is_name:
                _check_text(text, path, start)
        else:
            start, n = self.p, self.length(move, path) or 0
            if n * move.element.least > len(self.body) - self.p:
                raise _Found(f"has {n} elements, more than {len(self.body) - self.p} bytes can hold", path, start)
            for i in range(n):
                if self.pace.is_due():
                    yield
                yield from self.value(move.element, f"{path}[{i}]")


def _check_text(text: bytes | memoryview, path: str, start: int) -> None:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        raise _Found("is a name that is not UTF-8", path, start) from None


def blame_message(
    message: Message, version: int, problem: Exception, wanted: frozenset[str] | None = None
) -> ProtocolError:
    """Why `message` cannot be written."""
    return at_once(slice_blame_message(message, version, problem, wanted))


def slice_blame_message(
    message: Message, version: int, problem: Exception, wanted: frozenset[str] | None = None
) -> Sliced[ProtocolError]:
    """The same in slices."""
    cls, pace = type(message), Pace()
    layout = plan(cls, version)
    try:
        for step in (*layout.steps, *layout.tags):
            if wanted is None or step.field.name in wanted:
                yield from _check(pace, step.move, getattr(message, step.field.name), step.field.name)
    except _Found as found:
        return _problem(found, Fault.OURS, cls, version)
    return _problem(_Found(f"cannot be written: {problem}", "", None), Fault.OURS, cls, version)


def _check(pace: Pace, move: Move, value: Any, path: str) -> Sliced[None]:
    if isinstance(move, Fixed):
        try:
            struct.pack(f">{move.primitive.fmt}", value)
        except struct.error:
            raise _Found(f"is {value!r}, which is no {move.primitive.name}", path, None) from None
    elif value is None:
        if not move.nullable:
            raise _Found("is null, and may not be", path, None)
    elif isinstance(move, Varying):
        _check_varying(move, value, path)
    elif isinstance(move, Many):
        if not isinstance(value, list | tuple):
            raise _Found(f"is {value!r}, which is no array", path, None)
        for i, item in enumerate(value):
            if pace.is_due():
                yield
            yield from _check(pace, move.element, item, f"{path}[{i}]")
    elif not isinstance(value, Struct):
        raise _Found(f"is {value!r}, which is no struct", path, None)
    else:
        for step in (*move.plan.steps, *move.plan.tags):
            yield from _check(pace, step.move, getattr(value, step.field.name), f"{path}.{step.field.name}")


def _check_varying(move: Varying, value: Any, path: str) -> None:
    if move.primitive in (BYTES, RECORDS):
        if not isinstance(value, bytes | bytearray | memoryview):
            raise _Found(f"is {value!r}, which is no bytes", path, None)
        return
    if not isinstance(value, str):
        raise _Found(f"is {value!r}, which is no string", path, None)
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise _Found("has characters that UTF-8 cannot write", path, None) from None
    if not move.compact and size > LONGEST_STRING:
        raise _Found(f"has {size} bytes, more than {LONGEST_STRING}", path, None)
