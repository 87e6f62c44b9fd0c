"""Gate: what of a client's stream may pass while it is being found out who it is.

Rules:
* Open, every request finds its filter chain. Narrow, only some apis do, and whatever else comes is told to `strange`.
* Waiting, nothing more of the client is looked at until `go_on()`; what is under way goes on.
* A task that is `alone` may ask the broker where no handler could: between two requests, and none may begin meanwhile.
  Of several each has its turn, as they came.
* Raw, frames have no Kafka header, in both directions: the tokens of SASL after SaslHandshake v0, and those with which
  0.9 clients begin (KIP-43). Each goes to a `Tokens`, which says what leaves in its place.
* The gate turns only between frames. It is turned from within a handler, or by a `Tokens`; a client that sends ahead of
  the answer that turns it meets a waiting gate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any

from proxy.core.admission import Admission
from proxy.core.connection_events import ConnectionEvents
from proxy.core.context import Tokens
from proxy.core.decisions import Alone, Steps
from proxy.core.events import Event, Refused
from proxy.core.inflight import Answer
from proxy.core.lane import Lane, State
from proxy.core.limits import Limits
from proxy.core.parts import Parts
from proxy.core.requests import Requests
from proxy.core.responses import Responses
from proxy.core.strangers import Strangers
from proxy.core.task import Task
from proxy.protocol.api import APIS, Api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import (
    HOLD,
    REQUEST_HEAD,
    RESPONSE_HEAD,
    SIZE,
    TOKEN_HEAD,
    Buffer,
    Head,
    Hold,
    Meet,
    Reader,
    Stranger,
)

LONGEST_TOKEN = 512 << 10  # bytes; Kafka's own sasl.server.max.receive.size

Look = Callable[[bytes], Sequence[Buffer] | None]


class LinkGate:
    """The gate of one link (a `Gate`). `raw` is True while frames have no headers."""

    def __init__(
        self,
        parts: Parts,
        admission: Admission,
        requests: Requests,
        responses: Responses,
        strangers: Strangers,
        events: ConnectionEvents,
        run: Callable[[Steps], None],
    ) -> None:
        self._longest = parts.limits.frame
        self._longest_yet: int | None = None  # until the gate is open
        self._outbox = parts.outbox
        self._counters = parts.counters
        self._admission = admission
        self._requests = requests
        self._responses = responses
        self._strangers = strangers
        self._events = events
        self.run = run
        self._again: Buffer = b""  # a frame that turned out to have a Kafka header
        self._lone: deque[Task[Any]] = deque()  # wait until no request of the client is under way, one after the other
        self._is_lone = False  # has one of them its turn?
        self.raw = False

    def open(self) -> None:
        """Every request finds its filter chain, however large it is."""
        self._admission.strange = None
        self._admission.allow()
        self._longest_yet = None
        self._requests.splitter.limit(self._longest)

    def narrow(self, apis: Sequence[Api], strange: Stranger) -> None:
        """Only requests of these apis find their filter chains."""
        self._admission.strange = strange
        self._admission.allow({api.key for api in apis})

    def greet(self, strange: Stranger) -> None:
        """Every request finds its filter chain; this one is asked about the others."""
        self._admission.strange = strange

    def limit(self, longest: int) -> None:
        """Until the gate is open, requests may be so long."""
        self._longest_yet = longest
        self._requests.splitter.limit(longest)

    def apply(self, limits: Limits) -> None:
        """Other limits are in force; the lanes know them."""
        self._longest = limits.frame
        if self._longest_yet is not None:
            self._requests.splitter.limit(self._longest_yet)

    def answer(self, token: bytes) -> None:
        """Send the client a token."""
        self._responses.answer(Answer((SIZE.pack(len(token)) + token,)))

    def end(self, reason: str, head: Head | None = None) -> Hold:
        """Take nothing more of the client, the request of `head` neither, and close when all is answered."""
        if head is None:
            self._requests.give_up(reason)
        else:
            self._strangers.end(head, reason)
        return HOLD

    def distrust(self, reason: str) -> Hold:
        """Believe nothing more of the broker, and close."""
        return self._responses.end(reason)

    def refuse(self, head: Head, error: ErrorCode, reason: str) -> Reader:
        """Answer this request with an error, and end."""
        return self._strangers.refuse(head, error, reason)

    def tell(self, event: Event) -> None:
        """Tell those who watch."""
        self._counters.failed_authentications += isinstance(event, Refused)
        self._events.told(event)

    @property
    def untouched(self) -> bool:
        """Is this the first frame of the client?"""
        return not self._requests.splitter.begun

    @property
    def waiting(self) -> bool:
        """Is nothing of the client looked at for now?"""
        return self._admission.waiting

    def wait(self) -> None:
        """Take nothing more of the client for now."""
        self._admission.wait(True)

    def go_on(self) -> None:
        """Take again what could be taken before `wait()`."""
        self._admission.wait(False)

    def leave(self) -> None:
        """The task that was alone has done what it wanted to do alone."""
        self._is_lone = False
        if self._lone:
            self._requests.unsettled = True
        else:
            self._admission.be_alone(False)

    def hold(self) -> Hold:
        """Nothing more of the client now; it is looked at again when the link settles and the gate lets it pass."""
        return self._requests.hold(State.GATED)

    def meet(self, head: Head) -> Reader | None:
        """There is no filter chain for this request, or none now."""
        if self._admission.is_closed or self.raw:
            return self.hold()
        strange = self._admission.strange
        reader = None if strange is None else strange(head)
        return self._strangers.meet(head) if reader is None else reader

    def alone(self, task: Task[Any], step: Alone) -> bool:
        """Let no further request begin before `leave()`, whatever the one does that is under way.

        True: none is; otherwise this task goes on when that is so.
        """
        self._admission.be_alone(True)
        if self._is_between and not self._is_lone:
            self._is_lone = True
            return True
        self._lone.append(task)
        self._requests.unsettled = True
        return False

    @property
    def _is_between(self) -> bool:
        return self._requests.splitter.between and not self._outbox.amid_request and not self.raw

    def drop(self) -> None:
        """The link is closed."""
        while self._lone:
            self._lone.popleft().drop()

    def settle(self) -> None:
        """Do what became possible."""
        if self._lone and self._is_between and not self._is_lone:
            task, self._is_lone = self._lone.popleft(), True
            self._requests.unsettled = self._requests.is_over
            task.go_on(None)
        if self._again and not self._admission.is_closed:
            splitter = self._requests.splitter
            splitter.held = bytearray(self._again) + (splitter.held or b"")
            self._again = b""

    # Frames without headers.

    def take_tokens(self, tokens: Tokens) -> None:
        """The next frames, in both directions, are tokens."""
        of_client = _Tokens(self, tokens.client, self._requests, self._requests.give_up, State.GATED)
        of_broker = _Tokens(self, tokens.broker, self._responses, self._responses.end, State.OPEN)
        self._switch(TOKEN_HEAD, of_client.meet)
        self._responses.splitter.switch(TOKEN_HEAD, of_broker.meet)
        self.raw = True
        self.go_on()

    def take_requests(self, again: bytes = b"") -> None:
        """The next frames have headers again; so has `again`, a frame of the client that was no token."""
        self._switch(REQUEST_HEAD, self._requests.meet)
        self._responses.splitter.switch(RESPONSE_HEAD, self._responses.meet)
        self.raw = False
        self._again = SIZE.pack(len(again)) + again if again else b""
        if again:
            self.hold()
        self.go_on()

    def _switch(self, head: Struct, meet: Meet) -> None:
        splitter = self._requests.splitter
        was_held = splitter.held is not None
        splitter.switch(head, meet)
        if splitter.held is not None and not was_held:
            self.hold()  # the beginning of a frame that was sent ahead

    def is_held_back(self, lane: Lane) -> bool:
        """Must a token in this direction wait?"""
        return lane is self._requests and self._admission.waiting

    def too_long(self, length: int) -> str:
        """Why a token of so many bytes is not taken."""
        self._counters.bad_frames += 1
        return f"a SASL token of {length:,} bytes, over the limit of {LONGEST_TOKEN:,}"


class _Tokens:
    """One direction of a stream of tokens."""

    whole, blind = True, 0

    def __init__(self, gate: LinkGate, look: Look, lane: Lane, refuse: Callable[[str], object], held: State) -> None:
        self._gate = gate
        self._look = look
        self._lane = lane
        self._refuse = refuse
        self._held = held

    def meet(self, head: tuple[int], data: memoryview, pos: int) -> Reader | None:
        """A token begins."""
        if not self._gate.raw:
            return self._lane.hold(self._held)  # it is none: the splitter will call somebody else
        if self._gate.is_held_back(self._lane):
            return self._gate.hold()
        if head[0] > LONGEST_TOKEN:
            self._refuse(self._gate.too_long(head[0]))
            return HOLD
        return self

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer] | None:
        """A whole token."""
        return self._look(bytes(frame[SIZE.size :]))


def looks_like_kafka(token: bytes) -> bool:
    """Is this a request rather than a token of GSSAPI? Those begin with 0x60 or 0x05, requests with a known api key."""
    return len(token) >= REQUEST_HEAD.size - SIZE.size and int.from_bytes(token[:2]) in APIS
