"""Readers: they look at a frame span by span, while it passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from proxy.core.filter_chain import FilterChain
from proxy.protocol.frame import Buffer
from proxy.protocol.problem import ProtocolError
from proxy.protocol.tail import Tail

# Two strings of at most 32 KiB lie before the acks of a Produce request; a longer prefix has tags that nobody sends.
LONGEST_PREFIX = 80 << 10


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
    """A frame that passes; `at_end` is called for its last span, and returns what goes on of that (None: all)."""

    whole: Literal[False] = False

    def __init__(self, at_end: Callable[[], Sequence[Buffer] | None]) -> None:
        self._at_end = at_end

    def read(self, span: memoryview, last: bool) -> Sequence[Buffer] | None:
        """Any span of it."""
        return self._at_end() if last else None

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
