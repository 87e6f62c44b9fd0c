"""Frames in a stream: chunks in, the same bytes out, and only frames that a reader wants are looked at (`frame.py`).

Rules:
* Every byte leaves once and in order, unless a reader gave other bytes instead. Bytes that no reader replaced leave in
  as few pieces as possible: for a chunk without a change `feed` returns None.
* Three things are kept between chunks: a head that was cut (at most 11 bytes), a frame that a reader wants whole, and
  the bytes after a `HOLD`. None is longer than `longest`, or than one chunk. A reader that cannot take its frame yet
  gives it back (`give_back`) and returns `HOLD`: the frame is met again.
* Bytes that are no frame end the stream: `problem` says why. The bytes before them still leave.

A frame that no reader wants costs one unpack and one call. Nothing else may be added to that loop (0.5 us a frame), nor
to the first lines of `feed`.
"""

from collections.abc import Sequence
from struct import Struct
from typing import Any

from proxy.protocol.foreign import why_no_size
from proxy.protocol.frame import HOLD, SIZE, Buffer, Hold, Meet, Reader
from proxy.protocol.frame_reading import FrameReading
from proxy.protocol.problem import Fault, ProtocolError

NO_LIMIT = 0x7FFFFFFF


def _nobody(head: Any, data: memoryview, pos: int) -> Hold:
    """The `meet` of a stream that is closed. It is never called."""
    return HOLD


class Splitter(FrameReading):
    """One direction of one connection."""

    __slots__ = (
        "_calm",
        "_carry",
        "_fault",
        "_given_back",
        "_head",
        "_head_size",
        "_least",
        "_longest",
        "_meet",
        "problem",
    )

    def __init__(self, head: Struct, meet: Meet, fault: Fault, *, longest: int = NO_LIMIT) -> None:
        super().__init__()
        self._head = head
        self._head_size = head.size
        self._least = head.size - SIZE.size
        self._longest = longest
        self._meet = meet
        self._fault = fault
        self._calm = True  # the next byte begins a frame, and nothing is kept
        self._carry = b""
        self._given_back: memoryview | None = None
        self.problem: ProtocolError | None = None  # why the stream ended: it is not Kafka

    @property
    def lacking(self) -> int:
        """How many bytes of the frame that began, or of its head, are still to come; 0: none began."""
        if self._calm:
            return 0
        return self._head_size - len(self._carry) if self._carry else self.passing + self._left

    @property
    def kept(self) -> int:
        """How many bytes wait in here: a frame that a reader wants whole, or the bytes after a `HOLD`."""
        if self._calm:
            return 0
        return len(self._carry) + len(self._assembled or b"") + len(self._given_back or b"") + len(self.held or b"")

    def switch(self, head: Struct, meet: Meet) -> None:
        """From now on frames begin with this head. Call only between two calls of `feed`; if `held` then, resume."""
        self._head, self._head_size, self._least = head, head.size, head.size - SIZE.size
        self._meet = meet
        if self._carry:
            self.held, self._carry, self._calm = bytearray(self._carry), b"", False

    def hold(self) -> None:
        """Take no frame until resume(). Call only between two frames."""
        self.held, self._calm = self.held or bytearray(), False

    def close(self) -> None:
        """Let go of the bytes and the readers. What is fed from now on is thrown away."""
        self._meet, self._calm = _nobody, False
        self._reader, self._assembled, self.held, self._carry, self._given_back = None, None, None, b"", None
        self.passing = self._left = 0

    def give_back(self, frame: memoryview) -> None:
        """Have a frame that was assembled met again, after resume(). Called by its reader, which returns HOLD then."""
        self._given_back = frame

    def limit(self, longest: int) -> None:
        """Frames may have so many bytes, from the next call of `feed` on."""
        self._longest = longest

    def resume(self, instead: Sequence[Buffer] = ()) -> list[Buffer]:
        """Go on after a HOLD; `instead` is the outcome of the frame that waited."""
        frame, self._given_back = self._given_back, None
        held, self.held = self.held, None
        out = list(instead)
        for data in (frame, memoryview(held) if held else None):
            if data is not None:
                spans = self.feed(data)
                out += [data] if spans is None else spans
        return out

    def feed(self, data: memoryview) -> list[Buffer] | None:
        """Take the next bytes of the stream. Returns the bytes that leave now, or None for all of `data` as it came."""
        met: Reader | None = None
        if self._calm and len(data) >= self._head_size:
            head = self._head.unpack_from(data)
            if head[0] + SIZE.size == len(data) and self._least <= head[0] <= self._longest:
                met = self._meet(head, data, 0)
                if met is None:
                    self.begun = True
                    return None  # one whole frame that no reader wants: the usual case
        elif self.passing > len(data):
            self.passing -= len(data)
            return None
        if self._meet is _nobody:
            return []
        out = self._feed(data, met)
        self._calm = self.between and self.held is None and not self._carry
        return out

    def _feed(self, data: memoryview, met: Reader | None) -> list[Buffer] | None:
        """The same, for any bytes; `met`: the reader of the first frame, if `meet` was called already."""
        if self.held is not None:
            self.held += data
            return []
        came = data
        if self._carry:
            data, self._carry = memoryview(bytearray(self._carry) + data), b""
        end = len(data)
        out: list[Buffer] = []
        start, pos = 0, self.passing  # data[start:pos] passes and is not yet in `out`
        self.passing = 0
        if self._reader is not None:
            start, pos = self._show(data, start, pos, out)
            if self.held is not None:
                return out
        unpack, head_size, meet = self._head.unpack_from, self._head_size, self._meet
        least, longest = self._least, self._longest
        while end - pos >= head_size:
            head = unpack(data, pos)
            length = head[0]
            if not least <= length <= longest:
                self.problem, self.held, end = self._no_frame(data[pos:]), bytearray(), pos
                break
            reader, met = meet(head, data, pos) if met is None else met, None
            if reader is None:
                stop = pos + SIZE.size + length
                if stop <= end:
                    pos = stop
                    continue
                self.passing = stop - end
                pos = end
                break
            if reader is HOLD:
                self.held = bytearray(data[pos:])
                end = pos
                break
            self._reader, self._left = reader, SIZE.size + length
            start, pos = self._show(data, start, pos, out)
            if self.held is not None:
                return out
        if pos < end:
            self._carry = bytes(data[pos:end])
            if end - pos >= SIZE.size and not least <= SIZE.unpack_from(self._carry)[0] <= longest:
                self.problem, self.held = self._no_frame(data[pos:]), bytearray()
        if start < pos:
            self.begun = self.begun or self.between
            if data is came and pos - start == len(data):
                return None
            out.append(data[start:pos])
        return out

    def _no_frame(self, rest: memoryview) -> ProtocolError:
        """Why the first four of these bytes are no size of a frame."""
        return ProtocolError(why_no_size(bytes(rest[: SIZE.size]), self._least, self._longest), fault=self._fault)
