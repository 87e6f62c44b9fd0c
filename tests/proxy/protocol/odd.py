"""Odd bytes: messages written as no client should write them, with each oddity now and then.

The oddities: varints with more bytes than necessary; wrong lengths and counts; nulls where none may be; tags twice, in
any order, or with a wrong size; repeated elements; flags and presence bytes of any value; text that is not UTF-8; bytes
after the end.
"""

from __future__ import annotations

import random
import struct
from typing import Any

from proxy.protocol.emit.source import length_letter
from proxy.protocol.plan import Fixed, Many, Move, Nested, Plan, Varying, plan
from proxy.protocol.schema import Message, Struct
from proxy.protocol.varint import uvarint
from proxy.protocol.wire import BOOL, BYTES, RECORDS
from tests.proxy.protocol.generate import make

BROKEN = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xe6\x97", b"\xf0\x9f\x98", b"\xc0\x80", b"\xf5\x80\x80\x80")
TAGS = (0, 1, 2, 3, 90, 0x7FFFFFFF)


class Odd:
    """A writer. `rate` is the probability that a value is written oddly."""

    def __init__(self, dice: random.Random, rate: float = 0.02) -> None:
        self.dice, self.rate, self.version = dice, rate, 0

    def message(self, message: Message, version: int) -> bytes:
        """Write the whole message, and sometimes more bytes."""
        self.version = version
        body = self._struct(plan(type(message), version), message)
        return body + self.dice.randbytes(3) * self._now()

    def _now(self) -> bool:
        return self.dice.random() < self.rate

    def _uvarint(self, n: int) -> bytes:
        if not self._now():
            return uvarint(n)
        digits = [*uvarint(n)]
        while len(digits) < self.dice.randint(2, 6):
            digits[-1] |= 128
            digits.append(0)
        if len(digits) == 5:
            digits[-1] |= self.dice.choice([0, 8, 15, 16, 112])  # bits beyond 32, or a sign
        return bytes(digits)

    def _length(self, n: int | None, compact: bool, letter: str) -> bytes:
        if self._now():
            n = self.dice.choice([None, -2, (n or 0) + 1, (n or 0) - 1, 0x7FFF, 0])
        if not compact:
            return struct.pack(">" + letter, -1 if n is None else n)
        return self._uvarint(0 if n is None else (n + 1) & 0xFFFFFFFF)

    def _struct(self, layout: Plan, value: Struct) -> bytes:
        body = b"".join(self._value(step.move, getattr(value, step.field.name)) for step in layout.steps)
        return body + self._tags(layout, value) if layout.flexible else body

    def _tags(self, layout: Plan, value: Struct) -> bytes:
        tags = [
            (step.field.tag, self._value(step.move, getattr(each, step.field.name)))
            for step in layout.tags
            for each in (value, *[make(layout.struct, self.version, self.dice)] * self._now())
            if each.has(step.field.name)
        ]
        if self._now():
            tags.append((self.dice.choice(TAGS), self.dice.randbytes(self.dice.randrange(9))))
        if self._now():
            self.dice.shuffle(tags)
        written = b"".join(self._uvarint(tag or 0) + self._size(body) + body for tag, body in tags)
        return self._uvarint(len(tags) + self._now()) + written

    def _size(self, body: bytes) -> bytes:
        return self._uvarint(max(len(body) + self._now() * self.dice.randint(-4, 40), 0))

    def _value(self, move: Move, value: Any) -> bytes:
        if isinstance(move, Fixed):
            if move.primitive is BOOL and self._now():
                return bytes([self.dice.choice([2, 0x7F, 0x80, 0xFF])])
            return struct.pack(f">{move.primitive.fmt}", value)
        if isinstance(move, Varying):
            return self._varying(move, value)
        if isinstance(move, Nested):
            return self._nested(move, value)
        return self._many(move, value)

    def _varying(self, move: Varying, value: Any) -> bytes:
        data = value.encode() if isinstance(value, str) else value
        if isinstance(value, str) and move.primitive not in (BYTES, RECORDS) and self._now():
            data += self.dice.choice(BROKEN)
        length = self._length(None if data is None else len(data), move.compact, length_letter(move))
        return length + (data or b"")

    def _nested(self, move: Nested, value: Any) -> bytes:
        if not move.nullable:
            return self._struct(move.plan, value)
        present = value is not None
        flag = self.dice.choice([0, 2, 0x7F, 0x80, 0xFE]) if self._now() else 1 if present else 0xFF
        return bytes([flag]) + (self._struct(move.plan, value) if present else b"")

    def _many(self, move: Many, value: Any) -> bytes:
        elements = [self._value(move.element, each) for each in value or ()]
        if elements and self._now():
            elements.insert(self.dice.randrange(len(elements)), self.dice.choice(elements))
        count = self._length(None if value is None else len(elements), move.compact, "i")
        return count + b"".join(elements)
