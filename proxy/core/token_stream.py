"""Token stream: frames without a Kafka header, in both directions, in which SASL sends its tokens.

Rules:
* Tokens come after SaslHandshake v0, and 0.9 clients begin with them (KIP-43). Each goes to a `Tokens`, which says what
  is sent in its place.
* A stream begins and ends between frames. Bytes that the client sent ahead are held until the gate lets them pass.
* A frame that turned out to be no token is met again as a request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Literal

from proxy.core.admission import Admission
from proxy.core.gate_protocol import Tokens
from proxy.core.lane import Lane, State
from proxy.core.limits import Counters
from proxy.core.requests import Requests
from proxy.core.responses import Responses
from proxy.protocol.frame import REQUEST_HEAD, RESPONSE_HEAD, SIZE, TOKEN_HEAD, Buffer, Meet, Reader

LONGEST_TOKEN = 512 << 10  # bytes; Kafka's own sasl.server.max.receive.size

Look = Callable[[bytes], Sequence[Buffer] | None]


class TokenStream:
    """The token stream of a link. `raw` is True while it goes on."""

    def __init__(self, admission: Admission, requests: Requests, responses: Responses, counters: Counters) -> None:
        self._admission = admission
        self._requests = requests
        self._responses = responses
        self._counters = counters
        self._again: Buffer = b""  # a frame that turned out to have a Kafka header
        self.raw = False

    def begin(self, tokens: Tokens) -> None:
        """The next frames, in both directions, are tokens."""
        of_client = _Tokens(self, tokens.client, self._requests, State.GATED)
        of_broker = _Tokens(self, tokens.broker, self._responses, State.OPEN)
        self._switch(TOKEN_HEAD, of_client.meet)
        self._responses.splitter.switch(TOKEN_HEAD, of_broker.meet)
        self.raw = True

    def end(self, again: bytes) -> None:
        """The next frames have headers again; so has `again`, a frame of the client that was no token."""
        self._switch(REQUEST_HEAD, self._requests.meet)
        self._responses.splitter.switch(RESPONSE_HEAD, self._responses.meet)
        self.raw = False
        self._again = SIZE.pack(len(again)) + again if again else b""
        if again:
            self._requests.hold(State.GATED)

    def settle(self) -> None:
        """Meet the frame that was no token as a request, once the gate allows it."""
        if self._again and not self._admission.is_closed:
            splitter = self._requests.splitter
            splitter.held = bytearray(self._again) + (splitter.held or b"")
            self._again = b""

    def _switch(self, head: Struct, meet: Meet) -> None:
        splitter = self._requests.splitter
        was_held = splitter.held is not None
        splitter.switch(head, meet)
        if splitter.held is not None and not was_held:
            self._requests.hold(State.GATED)  # the beginning of a frame that was sent ahead

    def must_wait(self, lane: Lane) -> bool:
        """Must a token in this direction wait?"""
        return lane is self._requests and self._admission.waiting

    def too_long(self, length: int) -> str:
        """Why a token of so many bytes is not taken."""
        self._counters.bad_frames += 1
        return f"a SASL token of {length:,} bytes, over the limit of {LONGEST_TOKEN:,}"


class _Tokens:
    """One direction of a stream of tokens."""

    whole: Literal[True] = True

    def __init__(self, stream: TokenStream, look: Look, lane: Lane, held: State) -> None:
        self._stream = stream
        self._look = look
        self._lane = lane
        self._held = held

    def meet(self, head: tuple[int], data: memoryview, pos: int) -> Reader | None:
        """A token begins."""
        if not self._stream.raw:
            return self._lane.hold(self._held)  # it is no token: the splitter will call another reader
        if self._stream.must_wait(self._lane):
            return self._lane.hold(State.GATED)
        if head[0] > LONGEST_TOKEN:
            return self._lane.end(self._stream.too_long(head[0]))
        return self

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer] | None:
        """A whole token."""
        return self._look(bytes(frame[SIZE.size :]))
