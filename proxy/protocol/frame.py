"""Frames: the heads that they begin with, and who reads them.

Rules:
* A frame is four bytes of size and as many bytes as they say. Its head is its first 12 bytes (a request's) or 8 (a
  response's): size, API and version, correlation id.
* `Meet` is called once a frame, when its head is there. It returns who reads the frame: nobody (None), or a `Reader`,
  which gets the frame whole, or span by span as it passes.
* A span is only lent to a reader: copy what must last.
* A reader of spans says after each how many of the next bytes it need not see. They cost as little as those of a frame
  that nobody reads. It always sees the last byte.
"""

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any, Literal, Protocol

Buffer = bytes | bytearray | memoryview

# The api key and the version are read as one number, `key << 16 | version`: the tables of `core` are keyed by it.
REQUEST_HEAD = Struct(">iIi")
RESPONSE_HEAD = Struct(">ii")
TOKEN_HEAD = Struct(">i")  # the tokens of a SASL mechanism after SaslHandshake v0: a size and nothing more

SIZE = Struct(">i")


class Hold(tuple[Buffer, ...]):
    """The class of HOLD, which takes the place of a reader, or of what a reader returns. Its bytes leave first."""

    whole: Literal[True] = True

    def read(self, span: memoryview, last: bool) -> None:
        """Never called."""


HOLD = Hold()  # from `meet`: this frame must not begin yet. From `read`: its outcome is not known yet.


class WholeReader(Protocol):
    """Reads a frame in one piece."""

    whole: Literal[True]

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer] | None:
        """Look at the frame. Return None (it goes on as it is), the bytes to send instead, or HOLD."""


class SpanReader(Protocol):
    """Reads a frame span by span, in order, as it passes."""

    whole: Literal[False]

    def read(self, span: memoryview, last: bool) -> Sequence[Buffer] | None:
        """Look at a span. Return None (it goes on as it is), the bytes to send instead, or a Hold: no more leaves."""

    def skips(self, left: int) -> int:
        """How many of the `left` bytes to come pass as they are, without being shown: fewer than all."""


Reader = WholeReader | SpanReader
Meet = Callable[[Any, memoryview, int], Reader | None]
Head = tuple[int, int, int]  # of a request: length, api key << 16 | version, correlation id
Stranger = Callable[[Head], Reader | None]
