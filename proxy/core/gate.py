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
from contextlib import suppress
from struct import Struct
from typing import TYPE_CHECKING, Protocol

from proxy.core.decisions import Steps
from proxy.core.events import Event, Refused
from proxy.core.route import Route
from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import decode_ignoring_rest
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import (
    HOLD,
    REQUEST_HEAD,
    RESPONSE_HEAD,
    SIZE,
    TOKEN_HEAD,
    Buffer,
    Hold,
    Meet,
    Reader,
)
from proxy.protocol.header import read_request_header, response_frame
from proxy.protocol.problem import ProtocolError
from proxy.protocol.refuse import refuse

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

    __slots__ = ("_again", "_alone", "_busy", "_link", "_narrow", "_strange", "raw", "waiting")

    def __init__(self, link: Link) -> None:
        self._link = link
        self._narrow: Mapping[int, Route] | None = None  # the only routes there are, unless None
        self._strange: Strange | None = None
        self._again: Buffer = b""  # a frame that turned out to have a Kafka header
        self._alone: Run | None = None  # waits until no request of the client is under way
        self._busy = False  # a run is alone, or is to be
        self.waiting = False
        self.raw = False

    def open(self) -> None:
        """Every request finds its route, however large it is."""
        self._narrow = self._strange = None
        self._link.requests.splitter.limit(self._link.limits.frame)
        self.go_on()

    def narrow(self, apis: Sequence[Api], strange: Strange) -> None:
        """Only requests of these apis find their routes."""
        keys = {api.key for api in apis}
        self._narrow = {key: route for key, route in self._link.routes.table.items() if key >> 16 in keys}
        self._strange = strange
        self.go_on()

    def limit(self, longest: int) -> None:
        """Until the gate is open, requests may be so long."""
        self._link.requests.splitter.limit(longest)

    def greet(self, strange: Strange) -> None:
        """Every request finds its route; this one is asked about the others."""
        self._strange = strange

    def run(self, steps: Steps) -> None:
        """Take these steps beside the conversation."""
        self._link.run(steps)

    def answer(self, token: bytes) -> None:
        """Send the client a token."""
        self._link.answer(SIZE.pack(len(token)) + token)

    def end(self, reason: str) -> Hold:
        """Take nothing more of the client, and close when all is answered."""
        self._link.requests.end(reason)
        return HOLD

    def distrust(self, reason: str) -> Hold:
        """Believe nothing more of the broker, and close."""
        return self._link.responses.distrust(reason)

    def refuse(self, key_and_version: int, correlation_id: int, error: ErrorCode, reason: str) -> Reader:
        """Answer this request with an error, and end."""
        route = self._link.routes.table.get(key_and_version)
        return self.end(reason) if route is None else Refusing(self._link, route, correlation_id, error, reason)

    def tell(self, event: Event) -> None:
        """Tell those who watch."""
        self._link.counters.failed_authentications += isinstance(event, Refused)
        self._link.emit(event)

    @property
    def untouched(self) -> bool:
        """Is this the first frame of the client?"""
        return not self._link.requests.splitter.begun

    def wait(self) -> None:
        """Take nothing more of the client for now."""
        self.waiting = True
        self._turn()

    def go_on(self) -> None:
        """Take again what could be taken before `wait()`."""
        self.waiting = False
        self._turn()

    def leave(self) -> None:
        """The run that was alone has done what it wanted to do alone."""
        self._busy = False
        self._turn()

    def _turn(self) -> None:
        table = self._link.routes.table if self._narrow is None else self._narrow
        self._link.requests.table = NONE if self.waiting or self._busy else table

    def hold(self) -> Hold:
        """Nothing more of the client now; it is looked at again when the link settles and the gate is ready."""
        self._link.requests.full = True
        return HOLD

    def _switch(self, head: Struct, meet: Meet) -> None:
        splitter = self._link.requests.splitter
        was_held = splitter.held is not None
        splitter.switch(head, meet)
        if splitter.held is not None and not was_held:
            self.hold()  # the beginning of a frame that was sent ahead

    def meet(self, head: tuple[int, int, int]) -> Reader | None:
        """There is no route for this request. None: that is none of the gate's business."""
        if self.waiting or self._busy or self.raw:
            return self.hold()
        return self._strange(*head) if self._strange is not None else None

    def alone(self, run: Run) -> bool:
        """Let no further request begin before `leave()`, whatever the one does that is under way.

        True: none is; otherwise this run goes on when that is so.
        """
        self._busy = True
        self._turn()
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
        if self.waiting or self._busy:
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
        of_client = RawLane(link, tokens.client, self.hold, link.requests.end)
        of_broker = RawLane(link, tokens.broker, lambda: HOLD, link.responses.distrust)
        self._switch(TOKEN_HEAD, of_client.meet)
        link.responses.splitter.switch(TOKEN_HEAD, of_broker.meet)
        link.requests.table = NONE  # for what was sent ahead of the answer that turns the gate
        self.raw = True
        self.waiting = False

    def take_requests(self, again: bytes = b"") -> None:
        """The next frames have headers again; so has `again`, a frame of the client that was no token."""
        requests, responses = self._link.requests, self._link.responses
        self._switch(REQUEST_HEAD, requests.meet)
        responses.splitter.switch(RESPONSE_HEAD, responses.meet)
        self.raw = False
        self._again = SIZE.pack(len(again)) + again if again else b""
        if again:
            self.hold()
        self.go_on()


class Refusing:
    """A request that is answered with an error, whoever else would want to see it; then the connection ends."""

    whole, blind = True, 0

    def __init__(self, link: Link, route: Route, correlation_id: int, error: ErrorCode, reason: str) -> None:
        self._link = link
        self._route = route
        self._correlation_id = correlation_id
        self._error = error
        self._reason = reason

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer]:
        """The whole request."""
        api, version = self._route.api, self._route.version
        with suppress(ProtocolError):
            _, body = read_request_header(bytes(frame[SIZE.size :]))
            request = decode_ignoring_rest(api.request, version, bytes(frame[SIZE.size + body :]))
            answer = refuse(api, version, request, self._error)
            if answer is not None:
                self._link.answer(response_frame(answer, version, self._correlation_id))
        self._link.requests.end(self._reason)
        return HOLD


class RawLane:
    """One direction of a stream of tokens. `hold` stops it for now; `refuse` ends it, with a reason."""

    whole, blind = True, 0

    def __init__(self, link: Link, look: Look, hold: Callable[[], Hold], refuse: Callable[[str], object]) -> None:
        self._link = link
        self._look = look
        self._hold = hold
        self._refuse = refuse

    def meet(self, head: tuple[int], data: memoryview, pos: int) -> Reader | None:
        """A token begins."""
        gate = self._link.gate
        if not gate.raw:
            return self._hold()  # it is none: the splitter will call somebody else
        if gate.waiting and self._hold == gate.hold:
            return self._hold()
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
