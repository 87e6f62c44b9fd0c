"""Gate: what of a client's stream may pass while it is being found out who it is.

Rules:
* Open, every request finds its route. Narrow, only some apis do, and whatever else comes is told to `strange`.
* Waiting, nothing more of the client is looked at until `go_on()`; what is under way goes on.
* A run that is `alone` may ask the broker where no handler could: between two requests, and none may begin meanwhile.
* Raw, frames have no Kafka header, in both directions: the tokens of SASL after SaslHandshake v0, and those with which
  0.9 clients begin (KIP-43). Each goes to a `Tokens`, which says what leaves in its place.
* The gate turns only between frames. It is turned from within a handler, or by a `Tokens`; a client that sends ahead of
  the answer that turns it meets a waiting gate.
* All of it costs nothing while the gate is open: the lanes look into another table, or the splitters call another
  function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from proxy.core.events import Event
from proxy.core.route import Route
from proxy.protocol.api import APIS, Api
from proxy.protocol.frame import (
    HOLD,
    REQUEST_HEAD,
    RESPONSE_HEAD,
    SIZE,
    TOKEN_HEAD,
    Buffer,
    Reader,
)

if TYPE_CHECKING:
    from proxy.core.link import Link
    from proxy.core.run import Run

LONGEST_TOKEN = 512 << 10  # bytes; Kafka's own sasl.server.max.receive.size
NONE: Mapping[int, Route] = {}

Look = Callable[[bytes], Sequence[Buffer] | None]
Strange = Callable[[int, int, int], Reader | None]  # length, api key << 16 | version, correlation id


class Tokens(Protocol):
    """Who looks at frames without a Kafka header. Each answers what goes on instead, None for the token as it came."""

    def client(self, token: bytes) -> Sequence[Buffer] | None:
        """A token from the client."""

    def broker(self, token: bytes) -> Sequence[Buffer] | None:
        """A token from the broker."""


class Gate:
    """The gate of one link. `raw` is True while frames have no headers."""

    __slots__ = ("_again", "_alone", "_link", "_narrow", "_strange", "raw", "waiting")

    def __init__(self, link: Link) -> None:
        self._link = link
        self._narrow: Mapping[int, Route] | None = None  # the only routes there are, unless None
        self._strange: Strange | None = None
        self._again: Buffer = b""  # a frame that turned out to have a Kafka header
        self._alone: Run | None = None  # waits until no request of the client is under way
        self.waiting = False
        self.raw = False

    def open(self) -> None:
        """Every request finds its route."""
        self._narrow = self._strange = None
        self.go_on()

    def narrow(self, apis: Sequence[Api], strange: Strange) -> None:
        """Only requests of these apis find their routes."""
        keys = {api.key for api in apis}
        self._narrow = {key: route for key, route in self._link.routes.table.items() if key >> 16 in keys}
        self._strange = strange
        self.go_on()

    def greet(self, strange: Strange) -> None:
        """Every request finds its route; this one is asked about the others."""
        self._strange = strange

    def tell(self, event: Event) -> None:
        """Tell those who watch."""
        self._link.emit(event)

    @property
    def untouched(self) -> bool:
        """Is this the first frame of the client?"""
        return not self._link.requests.splitter.begun

    def wait(self) -> None:
        """Take nothing more of the client for now."""
        self.waiting = True
        self._link.requests.table = NONE

    def go_on(self) -> None:
        """Take again what could be taken before `wait()`."""
        self.waiting = False
        self._link.requests.table = self._link.routes.table if self._narrow is None else self._narrow
        self._look_again()

    def _look_again(self) -> None:
        """What waits is looked at when the link settles, which it does before it gives its commands."""
        self._link.requests.full = True

    def meet(self, head: tuple[int, int, int]) -> Reader | None:
        """There is no route for this request. None: that is none of the gate's business."""
        if self.waiting or self.raw:
            self._look_again()
            return HOLD
        return self._strange(*head) if self._strange is not None else None

    def alone(self, run: Run) -> bool:
        """Let no further request begin. True: none is under way; otherwise this run goes on when that is so."""
        self.wait()
        if self._between:
            return True
        self._alone = run
        return False

    @property
    def _between(self) -> bool:
        return self._link.requests.splitter.between and not self.raw

    def drop(self) -> None:
        """The link is closed."""
        if self._alone is not None:
            self._alone.drop()
            self._alone = None

    def ready(self) -> bool:
        """May what was held be looked at?"""
        if self._alone is not None and self._between:
            run, self._alone = self._alone, None
            run.go_on(None)
        if self.waiting:
            return False
        if self._again:
            splitter = self._link.requests.splitter
            splitter.held = bytearray(self._again) + (splitter.held or b"")
            self._again = b""
        return True

    # Frames without headers.

    def take_tokens(self, tokens: Tokens) -> None:
        """The next frames, in both directions, are tokens."""
        link = self._link
        link.requests.splitter.switch(TOKEN_HEAD, RawLane(link, tokens.client, link.requests.end).meet)
        link.responses.splitter.switch(TOKEN_HEAD, RawLane(link, tokens.broker, link.responses.distrust).meet)
        self.raw = True
        self.waiting = False
        self._look_again()

    def take_requests(self, again: bytes = b"") -> None:
        """The next frames have headers again; so has `again`, a frame of the client that was no token."""
        requests, responses = self._link.requests, self._link.responses
        requests.splitter.switch(REQUEST_HEAD, requests.meet)
        responses.splitter.switch(RESPONSE_HEAD, responses.meet)
        self.raw = False
        self._again = SIZE.pack(len(again)) + again if again else b""
        self.go_on()


class RawLane:
    """One direction of a stream of tokens. `refuse` ends it, with a reason."""

    whole, blind = True, 0

    def __init__(self, link: Link, look: Look, refuse: Callable[[str], object]) -> None:
        self._link = link
        self._look = look
        self._refuse = refuse

    def meet(self, head: tuple[int], data: memoryview, pos: int) -> Reader | None:
        """A token begins."""
        gate = self._link.gate
        if not gate.raw:
            return HOLD  # it is none: the splitter will call somebody else
        if gate.waiting and self._refuse == self._link.requests.end:
            return HOLD
        if head[0] > LONGEST_TOKEN:
            self._link.counters.bad_frames += 1
            self._refuse(f"a SASL token of {head[0]:,} bytes, over the limit of {LONGEST_TOKEN:,}")
            return HOLD
        return self

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer] | None:
        """A whole token."""
        return self._look(bytes(frame[SIZE.size :]))


def looks_like_kafka(token: bytes) -> bool:
    """Is this a request rather than a token of GSSAPI? Those begin with 0x60 or 0x05, requests with a known api key."""
    return len(token) >= REQUEST_HEAD.size - SIZE.size and int.from_bytes(token[:2]) in APIS
