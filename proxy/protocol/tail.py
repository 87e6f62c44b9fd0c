"""Tail: what ends a large response is seen to while the rest of it passes.

Fetch v16 and Produce v10 put the brokers' addresses into tagged fields behind everything else (KIP-951). A frame's size
comes first, so a megabyte of records would have to be held back until its last byte shows whether there are any.

Rules:
* Small frames are picked and rewritten as any other. This is for those that are too large to hold.
* What comes before the last tagged fields passes as it came; of records not even the bytes are looked at.
* The unwanted fields are blanked: another tag number, zeros for content, the same length. To a client that is a field
  from the future, which it skips; it then asks for metadata, as before KIP-951.
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Iterable

from proxy.protocol.blame import FAULT
from proxy.protocol.emit.source import length_letter
from proxy.protocol.plan import Fixed, Many, Move, Nested, Plan, Varying, plan
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Message
from proxy.protocol.varint import Short, read_uvarint, uvarint

LONGEST = 64 << 10  # bytes that the last tagged fields may take
FUTURE = 127  # tag numbers from here down are written over blanked fields: one byte each, and far from Kafka's

Walk = Generator[int, bytes, None]  # yields n: give me n bytes; -n: the next n are of no interest


def ends_in_tags(cls: type[Message], names: Iterable[str]) -> bool:
    """Are all these fields tagged ones of the message itself, so that a `Tail` can see to them?"""
    return all(cls.field[name].tag is not None for name in names)


class Tail:
    """One response body of `size` bytes on its way, from which the tagged fields `names` are to be blanked."""

    def __init__(self, cls: type[Message], version: int, names: Iterable[str], size: int) -> None:
        self._cls, self._version = cls, version
        self._blank = {cls.field[name].tag for name in names}
        self._left = size
        self._held = bytearray()  # the beginning of what the walk asked for, or of the tail
        self._walk = _steps(plan(cls, version))
        self._wants: int | None = next(self._walk)

    @property
    def unread(self) -> int:
        """How many of the bytes to come nobody needs to look at."""
        return -self._wants if self._wants is not None and self._wants < 0 else 0

    def passed(self, n: int) -> None:
        """`n` of the unread bytes went by without coming here."""
        assert self._wants is not None
        self._left -= n
        self._wants += n
        if self._wants == 0:
            self._advance(b"")

    def feed(self, data: memoryview) -> list[bytes | memoryview]:
        """The next bytes of the body; gives what may leave now. Raises ProtocolError."""
        p = 0
        while p < len(data) and self._wants is not None:
            if self._wants < 0:
                n = min(-self._wants, len(data) - p)
                p += n
                self.passed(n)
                continue
            n = min(self._wants - len(self._held), len(data) - p)
            self._held += data[p : p + n]
            p += n
            self._left -= n
            if len(self._held) == self._wants:
                taken, self._held = bytes(self._held), bytearray()
                self._advance(taken)
        out: list[bytes | memoryview] = [data[:p]] if p else []
        if p < len(data):
            self._held += data[p:]
            self._left -= len(data) - p
        if len(self._held) > LONGEST:
            raise self._wrong(f"ends in more than {LONGEST} bytes of tagged fields")
        if self._left == 0:
            if self._wants is not None:
                raise self._wrong("ends before its last field")
            out.append(self._blanked())
        return out

    def _advance(self, taken: bytes) -> None:
        try:
            self._wants = self._walk.send(taken)
        except StopIteration:
            self._wants = None
        except Short:
            raise self._wrong("has a length that cannot be") from None
        if self._wants is not None and abs(self._wants) > self._left:
            raise self._wrong(f"needs {abs(self._wants)} bytes where {self._left} are left")

    def _blanked(self) -> bytes:
        tail, out = bytes(self._held), bytearray()
        try:
            count, p = read_uvarint(tail, 0)
            out += tail[:p]
            for number in range(count):
                tag, after_tag = read_uvarint(tail, p)
                size, start = read_uvarint(tail, after_tag)
                p = start + size
                if tag in self._blank and after_tag == start - len(uvarint(size)):
                    out += bytes([FUTURE - number]) + tail[after_tag:start] + bytes(size)
                else:
                    out += tail[len(out) : p]
        except (Short, IndexError):
            raise self._wrong("ends in tagged fields that cannot be read") from None
        if len(out) != len(tail):
            raise self._wrong("ends in tagged fields of another length than they say")
        return bytes(out)

    def _wrong(self, what: str) -> ProtocolError:
        return ProtocolError(what, fault=FAULT.get(self._cls.side), api=self._cls.title(), version=self._version)


def _steps(layout: Plan) -> Walk:
    for step in layout.steps:
        yield from _value(step.move)


def _struct(layout: Plan) -> Walk:
    yield from _steps(layout)
    if layout.flexible:
        for _ in range((yield from _uvarint())):
            yield from _uvarint()
            yield from _over((yield from _uvarint()))


def _over(n: int) -> Walk:
    if n:
        yield -n


def _uvarint() -> Generator[int, bytes, int]:
    data = yield 1
    while data[-1] > 127 and len(data) < 5:
        data += yield 1
    return read_uvarint(data, 0)[0]


def _length(move: Varying | Many) -> Generator[int, bytes, int]:
    if move.compact:
        return (yield from _uvarint()) - 1
    letter = length_letter(move) if isinstance(move, Varying) else "i"
    (n,) = struct.unpack(">" + letter, (yield struct.calcsize(">" + letter)))
    return int(n)


def _value(move: Move) -> Walk:
    if isinstance(move, Fixed):
        yield -move.least
    elif isinstance(move, Nested):
        if not move.nullable or (yield 1)[0] < 128:
            yield from _struct(move.plan)
    elif isinstance(move, Varying):
        yield from _over(max((yield from _length(move)), 0))
    elif isinstance(move.element, Fixed):
        yield from _over(max((yield from _length(move)), 0) * move.element.least)
    else:
        for _ in range((yield from _length(move))):
            yield from _value(move.element)
