"""Frames: the heads that they begin with, and who reads them.

Rules:
* A frame is four bytes of size and as many bytes as they say. Its head is its first 12 bytes (a request's) or 8 (a
  response's): size, API and version, correlation id.
* `Meet` is called once a frame, when its head is there. It returns who reads the frame: nobody (None), or a `Reader`,
  which gets the frame whole, or span by span as it passes.
* A span is only lent to a reader: copy what must last.
"""

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any, Protocol

Buffer = bytes | bytearray | memoryview

# The api key and the version are read as one number, `key << 16 | version`: the tables of `core` are keyed by it.
REQUEST_HEAD = Struct(">iIi")
RESPONSE_HEAD = Struct(">ii")
TOKEN_HEAD = Struct(">i")  # the tokens of a SASL mechanism after SaslHandshake v0: a size and nothing more

SIZE = Struct(">i")


class Hold(tuple[Buffer, ...]):
    """The class of HOLD, which takes the place of a reader, or of what a reader returns. Its bytes leave first."""

    whole = True

    def read(self, span: memoryview, last: bool) -> None:
        """Never called."""


HOLD = Hold()  # from `meet`: this frame must not begin yet. From `read`: its outcome is not known yet.


class Reader(Protocol):
    """Reads a frame. `whole`: in one piece; otherwise span by span, in order, as the frame passes."""

    whole: bool

    def read(self, span: memoryview, last: bool) -> Sequence[Buffer] | None:
        """Look at a span. Return None (it goes on as it is), the bytes to send instead, or HOLD (whole frames only)."""


Meet = Callable[[Any, memoryview, int], Reader | None]
Head = tuple[int, int, int]  # of a request: length, api key << 16 | version, correlation id
Stranger = Callable[[Head], Reader | None]
