"""Readers: they look at a frame before it passes, or while it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from proxy.core.context import Context, decoded
from proxy.core.filter_chain import FilterChain
from proxy.protocol.api import FETCH, PRODUCE
from proxy.protocol.frame import SIZE, Buffer
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import Message
from proxy.protocol.tail import Tail
from proxy.protocol.walk import elements

# Two strings of at most 32 KiB lie before the acks of a Produce request; a longer prefix has tags that nobody sends.
LONGEST_PREFIX = 80 << 10
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
        return size + decoded(size, self.elements)

    @property
    def header(self) -> bytes:
        """The header of the frame, without the size."""
        return bytes(self.frame[SIZE.size : self.body])

    @property
    def number(self) -> int:
        """The correlation id."""
        return self.ctx.correlation_id


class AcksReader:
    """Reads the acks of a Produce request whose beginning was cut, while it passes; `found` is called with them."""

    whole: Literal[False] = False

    def __init__(
        self,
        acks: Callable[[memoryview], int | None],
        found: Callable[[int], None],
        failed: Callable[[], Sequence[Buffer]],
    ) -> None:
        self._acks = acks
        self._found = found
        self._failed = failed
        self._seen = bytearray()
        self._is_found = False

    def read(self, span: memoryview, last: bool) -> Sequence[Buffer] | None:
        """The next span; once the acks are known, further spans pass unseen."""
        if self._is_found:
            return None
        self._seen += span
        acks = self._acks(memoryview(bytes(self._seen)))
        if acks is not None:
            self._is_found = True
            self._found(acks)
        elif last or len(self._seen) > LONGEST_PREFIX:
            return self._failed()
        return None

    def skips(self, left: int) -> int:
        """Nothing, until the acks are known."""
        return left - 1 if self._is_found else 0


class Passing:
    """A response that passes; `done` is called when its last byte does."""

    whole: Literal[False] = False

    def __init__(self, done: Callable[[], None]) -> None:
        self._done = done

    def read(self, span: memoryview, last: bool) -> None:
        """Any span of it."""
        if last:
            self._done()

    def skips(self, left: int) -> int:
        """Only the last byte is of interest."""
        return left - 1


class StillPassing:
    """A request that passes before it is whole. At its last byte `still` is asked; `refuse` is called if it says no."""

    whole: Literal[False] = False

    def __init__(self, still: Callable[[], bool], refuse: Callable[[], Sequence[Buffer]]) -> None:
        self._still = still
        self._refuse = refuse

    def read(self, span: memoryview, last: bool) -> Sequence[Buffer] | None:
        """Any span of it."""
        return self._refuse() if last and not self._still() else None

    def skips(self, left: int) -> int:
        """Only the last byte is of interest."""
        return left - 1


class Dropping:
    """A response that goes to nobody."""

    whole: Literal[False] = False

    def read(self, span: memoryview, last: bool) -> Sequence[Buffer]:
        """Any span of it."""
        return ()

    def skips(self, left: int) -> int:
        """Nothing passes."""
        return 0


class Ending:
    """A large response of which only the last tagged fields are wanted: it passes, with these fields blanked."""

    whole: Literal[False] = False

    def __init__(
        self,
        chain: FilterChain,
        size: int,
        done: Callable[[], None],
        failed: Callable[[ProtocolError], Sequence[Buffer]],
    ) -> None:
        self._chain = chain
        self._left = size
        self._done = done
        self._failed = failed
        self._tail: Tail | None = None
        self._start = bytearray()  # until the header is whole

    def read(self, span: memoryview, last: bool) -> Sequence[Buffer] | None:
        """The next span; returns what may leave of it, None for all of it as it came."""
        self._left -= len(span)
        try:
            out = self._take(span)
        except ProtocolError as error:
            return self._failed(error)
        if last:
            self._done()
        return out

    def skips(self, left: int) -> int:
        """What the tail need not look at."""
        skipped = 0 if self._tail is None else self._tail.skips()
        self._left -= skipped
        return skipped

    def _take(self, span: memoryview) -> Sequence[Buffer] | None:
        if self._tail is not None:
            return self._tail.feed(span)
        start = memoryview(self._start + span) if self._start else span
        body = self._chain.response_body(start)
        if body is None:
            self._start += span
            return None
        assert self._chain.response is not None
        left = len(start) - body + self._left
        names = self._chain.response.names or ()
        self._tail = Tail(self._chain.api.response, self._chain.version, names, left)
        header = len(span) - (len(start) - body)
        rest = self._tail.feed(span[header:])
        return None if rest is None else [span[:header], *rest]
