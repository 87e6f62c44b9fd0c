"""Readers: what looks at a frame while, or before, it passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proxy.core.context import DECODED, Context
from proxy.core.decisions import Disconnect, Reply
from proxy.core.events import HandlerFailed
from proxy.core.failure import detached, raised_at
from proxy.core.route import Route
from proxy.protocol.api import APIS
from proxy.protocol.frame import HOLD, NO_LIMIT, SIZE, Buffer
from proxy.protocol.header import response_frame
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.tail import Tail

if TYPE_CHECKING:
    from proxy.core.link import Link
    from proxy.core.requests import Requests

# Before the acks of a Produce request lie two strings of 32 KiB at the most; what is longer has tags that nobody sends.
LONGEST_PREFIX = 80 << 10


@dataclass(slots=True)
class Wanted:
    """A frame that handlers look at: as it came, where its body begins, and the acks of a Produce request (1 else)."""

    route: Route
    ctx: Context
    frame: memoryview
    body: int
    acks: int = 1

    @property
    def held(self) -> int:
        """Bytes that the frame takes, and what handlers make of it."""
        return len(self.frame) * (1 + DECODED)

    @property
    def header(self) -> bytes:
        """The header of the frame, without the size."""
        return bytes(self.frame[SIZE.size : self.body])

    @property
    def number(self) -> int:
        """The correlation id."""
        return self.ctx.correlation_id


class Acks:
    """Reads the acks of a Produce request whose beginning was cut, while it passes."""

    whole = False

    def __init__(self, lane: Requests, route: Route, correlation_id: int) -> None:
        self._lane = lane
        self._route = route
        self._correlation_id = correlation_id
        self._seen = bytearray()
        self.blind = 0

    def read(self, span: memoryview, last: bool) -> Sequence[Buffer] | None:
        """The next span; once the acks are known the others pass unseen."""
        if self.blind:
            return None
        self._seen += span
        acks = self._lane.acks(self._route, memoryview(bytes(self._seen)))
        if acks is not None:
            self.blind = NO_LIMIT
            if acks != 0:
                self._lane.expect(self._route, self._correlation_id)
        elif last or len(self._seen) > LONGEST_PREFIX:
            api, version = self._route.api.name, self._route.version
            problem = ProtocolError("ends before its acks", fault=Fault.CLIENT, api=api, version=version)
            return self._lane.undecodable(self._route, problem)
        return None


class Stranger:
    """A request for which there is no route: an unknown api or version, or none for clients."""

    whole, blind = True, 0

    def __init__(self, link: Link, key_and_version: int, correlation_id: int) -> None:
        self._link = link
        self._key = key_and_version >> 16
        self._version = (key_and_version & 0xFFFF ^ 0x8000) - 0x8000
        self._correlation_id = correlation_id
        self._api = APIS.get(self._key)
        self.handler: Callable[[Context], Any] | None = link.routes.unsupported.get(self._key)

    def __str__(self) -> str:
        if self._api is None:
            return f"the unknown API {self._key}"
        if self._api.inter_broker:
            return f"{self._api.name} v{self._version}, which is for brokers only"
        return f"{self._api.name} v{self._version}, a version that nobody knows"

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer] | None:
        """Let the plugin for such requests answer."""
        assert self._api is not None
        assert self.handler is not None
        ctx = Context(self._link.connection, self._api, self._version, self._correlation_id)
        try:
            decision = self.handler(ctx)
            if isinstance(decision, Reply) and decision.version is not None:
                self._link.answer(response_frame(decision.message, decision.version, self._correlation_id))
                return ()
            if not isinstance(decision, Disconnect):
                raise TypeError(f"{decision!r} is no answer to an unknown version")
            reason = decision.reason
        except Exception as error:  # whatever a plugin raises: fail closed
            self._link.counters.failed_handlers += 1
            at = raised_at(error)
            self._link.emit(HandlerFailed(str(self.handler), self._api, self._version, detached(error), at))
            reason = f"the client asked for {self}, and answering that failed"
        self._link.requests.end(reason)
        return HOLD


class Ending:
    """A large response of which only the last tagged fields are wanted: it passes, and they are blanked on the way."""

    whole = False

    def __init__(self, route: Route, size: int, failed: Callable[[Route, ProtocolError], Sequence[Buffer]]) -> None:
        self._route = route
        self._left = size
        self._failed = failed
        self._tail: Tail | None = None
        self._start = bytearray()  # until the header is whole
        self.blind = 0

    def read(self, span: memoryview, last: bool) -> Sequence[Buffer] | None:
        """The next span; gives what may leave of it."""
        self._left -= self.blind + len(span)
        try:
            if self._tail is not None:
                if self.blind:
                    self._tail.passed(self.blind)
                return self._watch(span)
            start = memoryview(self._start + span) if self._start else span
            body = self._route.response_body(start)
            if body is None:
                self._start += span
                return None
            names = self._route.response.names if self._route.response else None
            left = len(start) - body + self._left
            self._tail = Tail(self._route.api.response, self._route.version, names or (), left)
            header = len(span) - (len(start) - body)
            return [span[:header], *self._watch(span[header:])]
        except ProtocolError as error:
            return self._failed(self._route, error)

    def _watch(self, span: memoryview) -> Sequence[Buffer]:
        assert self._tail is not None
        out = self._tail.feed(span)
        self.blind = max(min(self._tail.unread, self._left - 1), 0)
        return out
