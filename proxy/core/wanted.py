"""Wanted frames: those that handlers look at, and how many bytes they hold while they wait."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from proxy.core.context import Context, decoded_bytes
from proxy.core.filter_chain import FilterChain
from proxy.protocol.api import FETCH, PRODUCE
from proxy.protocol.frame import SIZE
from proxy.protocol.schema import Message
from proxy.protocol.walk import elements

WITH_RECORDS = (PRODUCE, FETCH)


@dataclass(eq=False)  # without slots: what is seldom set stays an attribute of the class, and takes no time
class Wanted:
    """A frame that handlers look at: as it came, where its body begins, and the acks of a Produce request (else 1).

    `version`: the version of a response, if its request was sent in another version than the client's.
    """

    chain: FilterChain
    ctx: Context
    frame: memoryview
    body: int
    acks: int = 1
    version: int | None = None
    is_read: bool = field(default=False, init=False)  # it is large, and its turn to be read has come
    elements: int | None = field(
        default=None, init=False
    )  # how many its arrays have; known once a large frame is read, or a small one waits
    message: Message | None = field(default=None, init=False)  # the message that was read, of a small frame
    is_large: bool = field(default=False, init=False)  # it is read and judged in slices
    passes: bool = field(
        default=False, init=False
    )  # a fast path knows this request: it is shown to observers, and to no handler
    noted: frozenset[Any] = field(default=frozenset(), init=False)  # the keys of what observers noted of it

    @property
    def is_plain(self) -> bool:
        """Is it a small response in the client's own version? It is read and written at once, without slices."""
        return self.version is None and not self.ctx.is_large

    def weigh(self) -> None:
        """The frame has to wait: count its elements. A small frame can have thousands, and thousands can wait."""
        if self.message is not None:
            self.elements = elements(self.message)

    @property
    def held(self) -> int:
        """Bytes that the frame takes, and what handlers make of it."""
        size = len(self.frame)
        if self.is_large and not self.is_read:
            return size
        if self.elements is None and self.chain.api in WITH_RECORDS:
            return 2 * size  # nearly all of it stays bytes
        return size + decoded_bytes(size, self.elements)

    @property
    def header(self) -> bytes:
        """The header of the frame, without the size."""
        return bytes(self.frame[SIZE.size : self.body])

    @property
    def number(self) -> int:
        """The correlation id."""
        return self.ctx.correlation_id
