"""Gate: which part of a client's stream may pass while the client is being authenticated.

Rules:
* `admission.py` says which requests find their filter chains: while the gate is open or narrow, while it waits, and
  while a task is alone with the broker (`alone.py`). Requests under way go on.
* While a client and its broker send tokens (`token_stream.py`) there are no requests.
* The gate changes only between frames. A handler changes it, or a `Tokens`. A client that sends ahead of the answer
  that changes the gate finds it waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from proxy.core.admission import Admission
from proxy.core.alone import LoneTasks
from proxy.core.connection_events import ConnectionEvents
from proxy.core.decisions import Alone, Steps
from proxy.core.events import Authenticated, Event, Refused
from proxy.core.gate_protocol import Tokens
from proxy.core.inflight import Answer
from proxy.core.lane import State
from proxy.core.limits import Limits
from proxy.core.parts import Parts
from proxy.core.requests import Requests
from proxy.core.responses import Responses
from proxy.core.strangers import Strangers
from proxy.core.task import Task
from proxy.core.token_stream import TokenStream
from proxy.protocol.api import Api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import HOLD, SIZE, Head, Hold, Reader, Stranger


class LinkGate:
    """The gate of one link (a `Gate`)."""

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
        self._counters = parts.counters
        self._admission = admission
        self._requests = requests
        self._responses = responses
        self._strangers = strangers
        self._events = events
        self.run = run
        self._tokens = TokenStream(admission, requests, responses, parts.counters)
        self._lone = LoneTasks(admission, requests, self._tokens)

    def open(self) -> None:
        """Every request finds its filter chain, and may be as large as the limits allow."""
        self._admission.strange = None
        self._admission.authenticate(False)
        self._admission.allow()
        self._longest_yet = None
        self._requests.splitter.limit(self._longest)

    def narrow(self, apis: Sequence[Api], strange: Stranger) -> None:
        """Only requests of these apis find their filter chains."""
        self._admission.strange = strange
        self._admission.allow({api.key for api in apis})

    def greet(self, strange: Stranger) -> None:
        """Every request finds its filter chain; `strange` is asked about requests that have none."""
        self._admission.strange = strange

    def limit(self, longest: int) -> None:
        """The client authenticates. Until the gate is open, requests may have so many bytes."""
        self._admission.authenticate(True)
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
        """Take nothing more from the client, not even the request of `head`, and close when all is answered."""
        if head is None:
            self._requests.end(reason)
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
        """Report this event."""
        self._counters.failed_authentications += isinstance(event, Refused)
        if isinstance(event, Authenticated):
            self._requests.forget()
        self._events.told(event)

    @property
    def untouched(self) -> bool:
        """Is this the first frame of the client?"""
        return not self._requests.splitter.begun

    @property
    def waiting(self) -> bool:
        """Is nothing from the client looked at for now?"""
        return self._admission.waiting

    def wait(self) -> None:
        """Take nothing more from the client for now."""
        self._admission.wait(True)

    def go_on(self) -> None:
        """Take again what could be taken before `wait()`."""
        self._admission.wait(False)

    def hold(self) -> Hold:
        """Take nothing more from the client until the link settles and the gate lets it pass."""
        return self._requests.hold(State.GATED)

    def meet(self, head: Head) -> Reader | None:
        """There is no filter chain for this request, or none now."""
        if self._admission.is_closed or self._tokens.raw:
            return self.hold()
        strange = self._admission.strange
        reader = None if strange is None else strange(head)
        return self._strangers.meet(head) if reader is None else reader

    def alone(self, task: Task[Any], step: Alone) -> bool:
        """This task wants to go on while no request of the client is under way. True: it may go on now."""
        return self._lone.come(task, step)

    def leave(self) -> None:
        """The task that was alone has done what it wanted to do alone."""
        self._lone.leave()

    def take_tokens(self, tokens: Tokens) -> None:
        """The next frames, in both directions, are tokens."""
        self._tokens.begin(tokens)
        self.go_on()

    def take_requests(self, again: bytes = b"") -> None:
        """The next frames have headers again; so has `again`, a frame from the client that was no token."""
        self._tokens.end(again)
        self.go_on()

    def drop(self) -> None:
        """The link is closed."""
        self._lone.drop()

    def settle(self) -> None:
        """Do what became possible."""
        self._lone.settle()
        self._tokens.settle()
