"""Pickers: they read some top-level fields of a message, and leave the rest as bytes.

Rules:
* What a picker read can be written again with other values in these fields: all other bytes stay as they came.
* A field that was left unread has no value: reading it raises AttributeError. A message in which one was set is not
  written, since the value would be lost.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any, Generic

from proxy.protocol import emit
from proxy.protocol.blame import blame_bytes, blame_message, slice_blame_bytes, slice_blame_message
from proxy.protocol.codec import BAD_BYTES, BAD_MESSAGE, M, laid_out, too_many
from proxy.protocol.frame import Buffer
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.slices import Sliced, TooMany


class Picker(Generic[M]):
    """Reads these fields of `cls` in `version`, and puts them and the rest together again. Made by `picker`.

    `wanted` are the requested fields that the version has: without any there is nothing to do.
    """

    __slots__ = ("__dict__", "_layout", "_prefix", "_read", "_title", "_write", "cls", "version", "wanted")

    def __init__(self, cls: type[M], version: int, names: frozenset[str]) -> None:
        for name in names - cls.field.keys():
            raise TypeError(f"{cls.__name__} has no field {name!r}")
        layout, title = laid_out(cls, version)
        self.cls, self.version = cls, version
        self.wanted = frozenset(step.field.name for step in (*layout.steps, *layout.tags)) & names
        title += f" {', '.join(sorted(self.wanted))}"
        self._layout, self._title = layout, title
        self._read = emit.pick_reader(layout, self.wanted, title)
        self._write = emit.pick_writer(layout, self.wanted, title)
        self._prefix = emit.prefix_reader(layout, self.wanted, title)

    def decode(self, body: bytes) -> M:
        """The message with the picked fields; the others are opaque. Raises ProtocolError."""
        try:
            message: M = self._read(body, 0)
        except BAD_BYTES:
            raise blame_bytes(self.cls, self.version, bytes(body)) from None
        return message

    def encode(self, message: M) -> bytes:
        """The body of a message that `decode` read, with the picked fields as they are now. Raises ProtocolError."""
        self._check_unread(message)
        try:
            body: bytes = self._write(message)
        except BAD_MESSAGE as problem:
            raise blame_message(message, self.version, problem, self.wanted) from None
        return body

    def _check_unread(self, message: M) -> None:
        for name in message.unread:
            if message.has(name):
                what = "was set, but not read: name it in the fields of the handler"
                raise ProtocolError(what, fault=Fault.OURS, api=self.cls.title(), version=self.version, field=name)

    @cached_property
    def _slicing_read(self) -> Any:
        return emit.pick_reader(self._layout, self.wanted, self._title, sliced=True)

    @cached_property
    def _slicing_write(self) -> Any:
        return emit.pick_writer(self._layout, self.wanted, self._title, sliced=True)

    def slice_decode(self, data: Buffer, start: int, most: int) -> Sliced[M]:
        """The message that begins at `start` and ends with `data`, of at most `most` elements."""
        try:
            message: M = yield from self._slicing_read(data, start, most)
        except TooMany as error:
            raise too_many(self.cls, self.version, most, error) from None
        except BAD_BYTES:
            raise (yield from slice_blame_bytes(self.cls, self.version, memoryview(data)[start:])) from None
        message.elements = most - message.elements  # type: ignore[operator]  # a message that was read has them
        return message

    def slice_encode(self, message: M) -> Sliced[list[Buffer]]:
        """The body of a message that `slice_decode` read, with the picked fields as they are now, in pieces."""
        self._check_unread(message)
        try:
            pieces: list[Buffer] = yield from self._slicing_write(message)
        except BAD_MESSAGE as problem:
            raise (yield from slice_blame_message(message, self.version, problem, self.wanted)) from None
        return pieces

    def prefix(self, data: bytes | memoryview, start: int) -> M | None:
        """The picked fields of a body that begins at `start` and may not be whole. None: more bytes are needed."""
        try:
            message: M = self._prefix(data, start)
        except BAD_BYTES:
            return None
        return message


@cache
def picker(cls: type[M], version: int, *names: str) -> Picker[M]:
    """A `Picker` of these top-level fields."""
    return Picker(cls, version, frozenset(names))
