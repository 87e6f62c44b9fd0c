"""Frame reading: the frame of a stream that is being read, whole or span by span.

Rules:
* A reader gets its frame in place if it lies complete in one chunk. Otherwise one that wants it whole has it assembled:
  nothing of it leaves before the reader has seen it.
* A reader of spans sees them as they pass, but for the bytes that it skips (`SpanReader.skips`).
* A reader of whole frames that cannot say yet what leaves returns `HOLD`. So does one that ends the stream. What came
  behind its frame, or its span, is held.
"""

from collections.abc import Sequence

from proxy.protocol.frame import Buffer, Hold, Reader


class FrameReading:
    """The state of a stream between two chunks, as far as readers are concerned. `Splitter` finds the frames."""

    __slots__ = ("_assembled", "_left", "_reader", "begun", "held", "passing")

    def __init__(self) -> None:
        self._reader: Reader | None = None
        self._assembled: bytearray | None = None  # what came of a frame that is wanted whole
        self.passing = 0  # so many of the next bytes pass, and nobody looks at them
        self._left = 0  # bytes of the reader's frame that are to come behind them
        self.begun = False  # a whole frame came
        self.held: bytearray | None = None  # bytes that wait for resume(); nothing more should be fed until then

    @property
    def between(self) -> bool:
        """Did all frames that began also leave?"""
        return not self.passing and self._reader is None

    def _show(self, data: memoryview, start: int, pos: int, out: list[Buffer]) -> tuple[int, int]:
        """Show the reader the part of its frame that came. Returns the new (start, pos)."""
        reader, end = self._reader, len(data)
        while reader is not None and pos < end and self.held is None:
            stop = min(pos + self._left, end)
            self._left -= stop - pos
            last = not self._left
            if reader.whole and not (last and self._assembled is None):
                start = self._flush(data, start, pos, out, stop)
                instead: Sequence[Buffer] | None = self._assemble(reader, data[pos:stop], last)
            else:
                instead = reader.read(data[pos:stop], last)
            if last:
                reader = self._reader = None
                self.begun = True
            if instead is not None:
                start = self._flush(data, start, pos, out, stop)
                if isinstance(instead, Hold):
                    out.extend(instead)
                    self.held = bytearray(data[stop:])
                    return end, end
                out.extend(instead)
            if reader is not None and not reader.whole:
                self.passing = reader.skips(self._left)
                self._left -= self.passing
            pos = stop
        return start, pos

    def _assemble(self, reader: Reader, span: memoryview, last: bool) -> Sequence[Buffer]:
        """Assemble a frame that was cut; nothing of it leaves before its reader has seen it."""
        self._assembled = self._assembled or bytearray()
        self._assembled += span
        if not last:
            return ()
        frame, self._assembled = memoryview(self._assembled), None
        instead = reader.read(frame, True)
        return (frame,) if instead is None else instead

    @staticmethod
    def _flush(data: memoryview, start: int, pos: int, out: list[Buffer], stop: int) -> int:
        if start < pos:
            out.append(data[start:pos])
        return stop
