"""Strangers: requests without a filter chain, and requests that are refused before any plugin sees them.

Rules:
* An unknown API or version, or an API for brokers only, ends the conversation, as at a broker.
* A version of the future is answered if a plugin knows how (`@on_unsupported`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from proxy.core.admission import Admission
from proxy.core.context import Context
from proxy.core.decisions import Disconnect, Reply
from proxy.core.failure import FAILURES, name_of
from proxy.core.inflight import Answer
from proxy.core.lane import State
from proxy.core.outcome import By
from proxy.core.parts import Parts
from proxy.core.requests import Requests
from proxy.core.steps import HandlerError
from proxy.core.turn import HANDLED
from proxy.protocol.api import APIS, Api
from proxy.protocol.codec import decode_ignoring_rest
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import SIZE, Buffer, Head, Reader
from proxy.protocol.header import read_request_header, response_frame
from proxy.protocol.problem import ProtocolError
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Response

LONGEST = 128  # bytes of a request that is answered with an error: reading it and answering takes 0.5 ms at the most


class Strangers:
    """Answers the strangers of one link, or ends the conversation."""

    def __init__(self, parts: Parts, admission: Admission, requests: Requests) -> None:
        self._connection = parts.connection
        self._admission = admission
        self._outcomes = parts.outcomes
        self._counters = parts.counters
        self._requests = requests

    def meet(self, head: Head) -> Reader | None:
        """Answer a request that has no filter chain, or end the conversation."""
        handler = self._admission.filters.unsupported.get(head[1] >> 16)
        if handler is not None and not self._requests.turn.allows(HANDLED):
            return self._requests.hold(State.TURN)
        ctx, name = self._begin(head)
        if handler is not None:
            return _Whole(partial(self._ask, ctx, name, handler))
        self._counters.unknown_apis += 1
        return self._requests.withhold(ctx, f"the client asked for {name}")

    def refuse(self, head: Head, error: ErrorCode, reason: str) -> Reader:
        """Answer this request with an error, and end."""
        ctx, _ = self._begin(head)
        if head[1] not in self._admission.filters.table:
            return self._requests.withhold(ctx, reason)
        return _Whole(partial(self._refuse, ctx, error, reason))

    def end(self, head: Head, reason: str) -> Reader:
        """End instead of answering."""
        ctx, _ = self._begin(head)
        return self._requests.withhold(ctx, reason)

    def _begin(self, head: Head) -> tuple[Context, str]:
        """The context of a request, and its name for people."""
        length, key_and_version, correlation_id = head
        key, version = key_and_version >> 16, (key_and_version & 0xFFFF ^ 0x8000) - 0x8000
        api = APIS.get(key) or Api.unknown(key)
        ctx = Context(self._connection, api, version, correlation_id, request_bytes=SIZE.size + length)
        observers = self._admission.filters.observers(api)
        if observers:
            self._outcomes.begin(ctx, observers)
        if key not in APIS:
            return ctx, f"the unknown API {key}"
        if api.inter_broker:
            return ctx, f"{api.name} v{version}, which is for brokers only"
        return ctx, f"{api.name} v{version}, a version that nobody knows"

    def _answer(self, ctx: Context, message: Response, version: int, by: By, why: str) -> None:
        """Send this answer of ours. Raises ProtocolError."""
        data = response_frame(message, version, ctx.correlation_id)
        self._requests.answer(Answer((data,), ctx, by, why))

    def _ask(self, ctx: Context, name: str, handler: Callable[[Context], Any], frame: memoryview) -> Sequence[Buffer]:
        """Let the plugin answer a request in an unknown version."""
        plugin = name_of(handler)
        try:
            decision = handler(ctx)
            if isinstance(decision, Reply) and decision.version is not None:
                ctx.decide(plugin, "Reply")
                self._answer(ctx, decision.message, decision.version, By.PLUGIN, plugin)
                return ()
            if not isinstance(decision, Disconnect):
                raise TypeError(f"{decision!r} is no answer to an unknown version")
            ctx.decide(plugin, "Disconnect")
            return self._requests.withhold(ctx, decision.reason)
        except FAILURES as error:  # whatever a plugin raises: fail closed
            self._requests.handled.failed(ctx, HandlerError(plugin, error))
            return self._requests.withhold(ctx, f"the client asked for {name}, and answering that failed")

    def _refuse(self, ctx: Context, error: ErrorCode, reason: str, frame: memoryview) -> Sequence[Buffer]:
        """Answer a request with an error, and end. One that is large, or cannot be read, gets no answer."""
        try:
            if len(frame) > LONGEST:
                raise ProtocolError("is large")
            _, body = read_request_header(bytes(frame[SIZE.size :]))
            request = decode_ignoring_rest(ctx.api.request, ctx.version, bytes(frame[SIZE.size + body :]))
            answer = refuse(ctx.api, ctx.version, request, error)
            if answer is None:
                raise ProtocolError("has no answer")
            self._answer(ctx, answer, ctx.version, By.PROXY, reason)
        except ProtocolError:
            return self._requests.withhold(ctx, reason)
        return self._requests.end(reason)  # once the answer has left


class _Whole:
    """Reads a whole request by this function."""

    whole: Literal[True] = True

    def __init__(self, look: Callable[[memoryview], Sequence[Buffer]]) -> None:
        self._look = look

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer]:
        """The whole request."""
        return self._look(frame)
