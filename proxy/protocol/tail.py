"""Tail: the tagged fields at the end of a large response are blanked while the rest of it passes.

Fetch v16 and Produce v10 put the brokers' addresses into tagged fields behind everything else (KIP-951). A frame's size
comes first. So a megabyte of records would have to be held back until its last byte shows whether there are addresses.

Rules:
* Small frames are picked and rewritten as any other. This is for frames that are too large to hold.
* The bytes before the last tagged fields pass as they came; the bytes of records are not even looked at.
* A response that cannot be read to its end does not pass to its end: an address may be in it.
* The unwanted fields are blanked: another tag number, zeros for content, the same length. To a client that is a field
  from the future, which it skips; it then asks for metadata, as before KIP-951.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterable
from functools import cache

from proxy.protocol import emit
from proxy.protocol.blame import FAULT
from proxy.protocol.plan import plan
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Message
from proxy.protocol.varint import Short, read_uvarint

LONGEST = 64 << 10  # bytes that the last tagged fields may take
MOST = 64  # tagged fields; Kafka has three
FUTURE = 127  # tag numbers from here down are written over blanked fields: one byte each, and far from Kafka's

Walk = Generator[int, tuple[bytes | memoryview, int, int], int]


def ends_in_tags(cls: type[Message], names: Iterable[str]) -> bool:
    """Are all these fields tagged fields of the message itself, so that a `Tail` can blank them?"""
    return all(cls.field[name].tag is not None for name in names)


@cache
def _walker(cls: type[Message], version: int) -> Callable[[], Walk]:
    walker: Callable[[], Walk] = emit.walker(plan(cls, version), f"{cls.title()} v{version}")
    return walker


class Tail:
    """One response body of `size` bytes on its way, from which the tagged fields `names` are to be blanked."""

    def __init__(self, cls: type[Message], version: int, names: Iterable[str], size: int) -> None:
        self._cls, self._version = cls, version
        self._blank = {cls.field[name].tag for name in names}
        self._left = size
        self._held: bytearray | None = None  # the tail, once it began
        self._carry = b""  # bytes that were too few to read
        self._walk = _walker(cls, version)()
        self._unread = next(self._walk)  # so many of the next bytes need not be looked at

    def feed(self, data: memoryview) -> list[bytes | memoryview] | None:
        """Take the next bytes of the body. Returns the bytes that may leave now, or None for all of `data` as it came.

        Raises ProtocolError.
        """
        self._left -= len(data)
        start, begins = 0, self._held is None
        if begins:
            start = self._find_tail(data)
        if self._held is None:
            if not self._left:
                raise self._wrong("ends before its last field")
            return None
        self._held += data[start:]
        if len(self._held) > LONGEST:
            raise self._wrong(f"ends in more than {LONGEST} bytes of tagged fields")
        out: list[bytes | memoryview] = [data[:start]] if start else []
        if not self._left:
            tail = bytes(self._held)
            blanked = self._blanked(tail)
            if begins and blanked == tail:
                return None  # most answers end so, and leave uncut: 10 us less
            out.append(blanked)
        return out

    def skips(self) -> int:
        """How many of the next bytes pass without being fed, since they need not be looked at; never all."""
        skipped = min(self._unread, self._left - 1)
        self._unread -= skipped
        self._left -= skipped
        return skipped

    def _find_tail(self, data: memoryview) -> int:
        """Where in `data` the tail begins; the end of `data`, if it does not begin there."""
        if self._unread >= len(data):
            self._unread -= len(data)
            return len(data)
        start, self._unread = self._unread, 0
        carried = len(self._carry)
        buf = memoryview(self._carry + bytes(data)) if carried else data
        try:
            p = self._walk.send((buf, start, len(buf)))
        except StopIteration as found:
            self._held = bytearray()
            tail: int = found.value - carried
            return tail
        except (Short, struct.error):
            raise self._wrong("has a length that cannot be") from None
        self._unread = max(p - len(buf), 0)
        self._carry = bytes(buf[p:])
        if self._unread > self._left:
            raise self._wrong(f"needs {self._unread} bytes where {self._left} are left")
        return len(data)

    def _blanked(self, tail: bytes) -> bytes:
        out = bytearray()
        try:
            count, p = read_uvarint(tail, 0)
            if count > MOST:
                raise self._wrong(f"ends in {count} tagged fields")
            out += tail[:p]
            for number in range(count):
                begin = p
                tag, after_tag = read_uvarint(tail, begin)
                size, start = read_uvarint(tail, after_tag)
                p = start + size
                if p > len(tail):
                    raise Short
                if tag not in self._blank:
                    out += tail[begin:p]
                elif after_tag - begin == 1:
                    out += bytes([FUTURE - number]) + tail[after_tag:start] + bytes(size)
                else:
                    raise self._wrong(f"spells tag {tag} out in {after_tag - begin} bytes")
        except (Short, IndexError):
            raise self._wrong("ends in tagged fields that cannot be read") from None
        if len(out) != len(tail):
            raise self._wrong("ends in tagged fields of another length than they say")
        return bytes(out)

    def _wrong(self, what: str) -> ProtocolError:
        return ProtocolError(what, fault=FAULT.get(self._cls.side), api=self._cls.title(), version=self._version)
