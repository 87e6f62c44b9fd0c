"""Repeated answers: an answer that begins like the last one is changed like the last one, and nobody reads it.

Clients ask for the same metadata again and again, and mostly get the same brokers in the same order.

Rules:
* Only where one handler wants the answer, and says that it decided by the message and the topology alone
  (`Forward.repeats`), and where no observer is told of the answer.
* Handlers see an answer up to the last field that they want. If two answers have the same bytes up to there, they are
  the same to the handlers. What is behind these bytes passes as it came, also if it is not whole yet.
* Nothing is repeated once the topology has changed. An answer that changed it is read again.
* The last answer of each API and version is known, if it begins with few bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal

from proxy.core.topology import Topology
from proxy.protocol.codec import end_finder
from proxy.protocol.frame import RESPONSE_HEAD, SIZE, Buffer
from proxy.protocol.schema import Message

MOST = 16 << 10  # bytes; 200 brokers with long names


class Replacing:
    """Reads an answer of which the first bytes are replaced, while it passes."""

    whole: Literal[False] = False

    def __init__(self, begins: bytes, end: int) -> None:
        self._begins: bytes | None = begins
        self._end = end

    def read(self, span: memoryview, last: bool) -> Sequence[Buffer] | None:
        """The next span. The first one has all the bytes that are replaced."""
        begins, self._begins = self._begins, None
        return None if begins is None else [begins, span[self._end :]]

    def skips(self, left: int) -> int:
        """All that is behind the first span."""
        return left - 1


class RepeatedAnswer:
    """How the last answer of an API and version began, and what left instead. `names`: the fields that are wanted."""

    __slots__ = ("_begins", "_edition", "_end", "_find_end", "_instead")

    def __init__(self, cls: type[Message], version: int, names: Collection[str]) -> None:
        last = [field.name for field in cls.fields if field.name in names][-1]
        self._find_end: Callable[[memoryview, int], int] = end_finder(cls, version, last)
        self._begins = self._instead = b""  # from behind the correlation id, which differs each time
        self._end = 0  # how many bytes of a frame are replaced
        self._edition: object = None  # of the topology by which they were

    def reader(self, data: memoryview, pos: int, topology: Topology) -> Replacing | None:
        """The reader of the answer that begins at `pos`, if it is like the last one."""
        begins = data[pos + RESPONSE_HEAD.size : pos + self._end]
        if topology.edition is not self._edition or begins.tobytes() != self._begins:
            return None
        size, number = RESPONSE_HEAD.unpack_from(data, pos)
        if SIZE.size + size < self._end:
            return None  # it ends before these bytes do; reading it says so
        head = RESPONSE_HEAD.pack(size + len(self._instead) - len(self._begins), number)
        return Replacing(head + self._instead, self._end)

    def learn(self, frame: memoryview, body: int, sent: Sequence[Buffer], edition: object) -> None:
        """An answer with this body was changed into `sent`, by this edition of the topology.

        Behind the last field that was wanted both have the same bytes.
        """
        end = self._find_end(frame, body)
        size = sum(map(len, sent)) - (len(frame) - end)
        if max(end, size) > MOST:
            return
        instead = bytearray()
        for piece in sent:
            instead += piece[: size - len(instead)]
        self._begins, self._instead = bytes(frame[RESPONSE_HEAD.size : end]), bytes(instead[RESPONSE_HEAD.size :])
        self._end, self._edition = end, edition
