"""Requests: the lane from the client to the broker.

Rules:
* A request that nobody wants is noted in flight and flows on. One that somebody wants waits for its handlers, and all
  that came after it waits with it: Kafka serves one request of a connection at a time.
* What is not known to be harmless is not passed on: a handler that raises refuses its request, and a frame that a
  handler needs and that cannot be read ends the conversation.
* Acks 0 has no answer: no slot is kept for it, and a refusal of it can only be a closed connection (hazard 20).
* While the lane waits, the client is not read: at most the rest of one chunk is kept.
* A large request is read, judged and answered in slices; after much work in small ones the others have their turn.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from proxy.core.commands import PauseClient, ResumeClient
from proxy.core.context import Context
from proxy.core.decisions import TURN, Disconnect, Forward, Reply, Step
from proxy.core.events import HandlerFailed, Undecodable
from proxy.core.failure import detached
from proxy.core.pipeline import HandlerError, failing_closed, request_pipeline
from proxy.core.readers import Acks, Stranger, Wanted
from proxy.core.route import Route
from proxy.core.run import WAITING, Outcome, Run, Written
from proxy.core.turn import Turn
from proxy.protocol.api import PRODUCE
from proxy.protocol.codec import slice_decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.frame import HOLD, REQUEST_HEAD, SIZE, Buffer, Reader, Splitter
from proxy.protocol.header import (
    framed,
    read_request_header,
    request_body_offset,
    response_frame,
    slice_response_frame,
)
from proxy.protocol.problem import Fault, ProtocolError, TooManyElementsError
from proxy.protocol.refuse import slice_refuse
from proxy.protocol.slices import LARGE, Sliced, at_once

if TYPE_CHECKING:
    from proxy.core.link import Link

HEAD = REQUEST_HEAD.size


class Begun(NamedTuple):
    """How a Produce request with an answer began: what followed its head, up to where its acks ended."""

    route: Route | None
    start: bytes
    end: int


class Requests:
    """Meets every request once, and reads those that somebody wants."""

    whole, blind = True, 0  # as a Reader

    def __init__(self, link: Link) -> None:
        self._link = link
        self._slots = link.inflight.slots
        self.table: Mapping[int, Route] = link.routes.table  # the gate may put another here
        self._most = link.limits.in_flight
        self.splitter = Splitter(REQUEST_HEAD, self.meet, Fault.CLIENT, longest=link.limits.frame)
        self.feed = self.splitter.feed
        self.full = False  # too many in flight: waits for answers; or for the turn of the others, or the gate
        self._turn = Turn(link)
        self._met: tuple[Route, tuple[int, int, int], bool] | None = None  # to be read: route, head, was it cut?
        self._waiting: Wanted | None = None  # for its handlers
        self._ended = False  # nothing more is taken
        self._paused = False
        self._header = b""  # what followed the head in the last header that was read: a client repeats it
        self._header_version = -1
        self._begun = Begun(None, b"", 0)  # the last one: a producer begins all its requests alike

    @property
    def settled(self) -> bool:
        """Is all that came dealt with?"""
        return not self._slots and (self._ended or self.splitter.held is None)

    @property
    def held(self) -> int:
        """Bytes that wait in this lane."""
        return self.splitter.kept + (self._waiting.held if self._waiting is not None else 0)

    def meet(self, head: tuple[int, int, int], data: memoryview, pos: int) -> Reader | None:
        """A request begins at `pos`."""
        route = self.table.get(head[1])
        if len(self._slots) >= self._most:
            self.full = True
            self._link.counters.full_pipelines += 1
            return HOLD
        if route is None:
            return self._unknown(head)
        route.requests += 1
        if not route.needs_look:
            self._slots.append((head[2], route, None))
            return None
        if route.request is None:
            seen, start, end = self._begun
            if route is not seen or data[pos + HEAD : pos + end] != start or end > SIZE.size + head[0]:
                return self._look_for_acks(route, head, data[pos : pos + SIZE.size + head[0]])
            self._slots.append((head[2], route, None))  # 0.3 us, where looking takes 1.2
            return None
        frame = data[pos : pos + SIZE.size + head[0]]
        if route.glance is not None and self._knows(route, head, frame):
            return None
        if not self._turn.allows(head[0]):
            route.requests -= 1  # it begins again
            self.full = True
            return HOLD
        self._met = route, head, len(frame) < SIZE.size + head[0]
        return self

    def _look_for_acks(self, route: Route, head: tuple[int, int, int], frame: memoryview) -> Reader | None:
        """Of this request only its acks matter; `frame` is what came of it."""
        acks = self.acks(route, frame)
        if acks is None:
            return Acks(self, route, head[2])
        if acks != 0:
            self._slots.append((head[2], route, None))
            end = route.acks_end(frame, HEAD + len(self._header))
            self._begun = Begun(route, bytes(frame[HEAD:end]), end)
        return None

    def _knows(self, route: Route, head: tuple[int, int, int], frame: memoryview) -> bool:
        """Is it known that this request may pass?"""
        assert route.glance is not None
        try:
            ctx = route.glance.passes(self._link.connection, head[1], frame, SIZE.size + head[0])
        except Exception:
            return False  # its handler is asked now, and says what is wrong
        if ctx is None:
            return False
        self._slots.append((head[2], route.passed, ctx))
        return True

    def _unknown(self, head: tuple[int, int, int]) -> Reader | None:
        """There is no route for this request."""
        if self._ended:
            return HOLD
        reader = self._link.gate.meet(head)
        if reader is not None:
            return reader
        stranger = Stranger(self._link, *head[1:])
        if stranger.handler is not None:
            if not self._turn.allows(head[0]):
                self.full = True
                return HOLD
            return stranger
        self._link.counters.unknown_apis += 1
        self.end(f"the client asked for {stranger}")
        return HOLD

    def acks(self, route: Route, frame: memoryview) -> int | None:
        """The acks of a Produce request of which `frame` is the beginning; None: more bytes are needed."""
        body = self._find_body(route, frame)
        return None if body is None else route.acks(frame, body)

    def _find_body(self, route: Route, frame: memoryview) -> int | None:
        """Where the body begins. A client sends the same header each time: comparing takes 0.2 us, reading it 2."""
        body = HEAD + len(self._header)
        if self._header_version == route.header_version and frame[HEAD:body] == self._header:
            return body
        found = request_body_offset(route.api, route.version, frame, SIZE.size)
        if found is None:
            return None
        header, _ = read_request_header(bytes(frame[SIZE.size : found]))
        self._link.connection.client_id = header.client_id
        self._header, self._header_version = bytes(frame[HEAD:found]), route.header_version
        return found

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer] | None:
        """The whole of a request that somebody wants."""
        assert self._met is not None
        route, head, was_cut = self._met
        if was_cut and route.glance is not None and self._knows(route, head, frame):
            return None
        assert route.request is not None
        wanted: Wanted | None = None
        try:
            body = self._find_body(route, frame)
            acks = None if body is None else route.acks(frame, body) if route.api is PRODUCE else 1
            if body is None or acks is None:
                raise ProtocolError("ends too early", fault=Fault.CLIENT, api=route.api.name, version=route.version)
            ctx = Context(self._link.connection, route.api, route.version, head[2], size=len(frame))
            wanted = Wanted(route, ctx, frame, body, acks)
            steps: Generator[Step, Any, Outcome]
            if len(frame) > LARGE:
                steps = self._slice(wanted)
            else:
                steps = request_pipeline(route, ctx, route.request.read(bytes(frame[body:])))
        except ProtocolError as error:
            if wanted is None:
                return self.undecodable(route, error)
            steps = self._unread(wanted, detached(error))
        outcome = Run(self._link, steps, self._decided, may_ask=True).start()
        if outcome is WAITING:
            if not was_cut:  # otherwise it was assembled, and is ours
                wanted.frame = memoryview(bytes(frame))
            self._waiting = wanted
            return HOLD
        return self._carry_out(outcome, wanted)

    def _slice(self, wanted: Wanted) -> Generator[Step, Any, Outcome]:
        """The same of a large request, in slices; and what leaves for it is written in slices."""
        yield TURN
        interest, ctx = wanted.route.request, wanted.ctx
        assert interest is not None
        try:
            message = yield from interest.slice_read(wanted.frame, wanted.body, self._link.limits.elements)
        except ProtocolError as error:
            return (yield from self._unread(wanted, detached(error)))
        try:
            decision = yield from request_pipeline(wanted.route, ctx, message)
            if isinstance(decision, Reply):
                version = ctx.version if decision.version is None else decision.version
                return Written(decision, (yield from slice_response_frame(decision.message, version, wanted.number)))
            if isinstance(decision, Forward):
                return Written(decision, framed(wanted.header, (yield from interest.slice_write(decision.message))))
            return decision
        except HandlerError as error:
            failed = detached(error)
        except ProtocolError as error:
            failed = HandlerError(type(decision).__name__, error)
        return Written(failed, (yield from self._slice_failure(wanted)))

    def _unread(self, wanted: Wanted, error: ProtocolError) -> Generator[Step, Any, Outcome]:
        """What becomes of a request that cannot be read, and that a broker might answer unread."""
        answering = self._link.routes.unreadable.get(wanted.route.api.key)
        if answering is None or isinstance(error, TooManyElementsError):
            return error
        try:
            return (yield from failing_closed(answering(wanted.ctx))) or error
        except HandlerError as failed:
            return detached(failed)

    def _slice_failure(self, wanted: Wanted) -> Sliced[list[Buffer]]:
        """The answer to a large request whose handlers failed; nothing where it cannot be given."""
        api, version = wanted.ctx.api, wanted.ctx.version
        most = self._link.limits.elements
        with suppress(ProtocolError):
            request = yield from slice_decode(api.request, version, wanted.frame, wanted.body, most)
            answer = yield from slice_refuse(api, version, request, ErrorCode.UNKNOWN_SERVER_ERROR)
            if answer is not None:
                return (yield from slice_response_frame(answer, version, wanted.number))
        return []

    def _decided(self, outcome: Outcome) -> None:
        """The handlers of the request that waited are done with it."""
        wanted, self._waiting = self._waiting, None
        assert wanted is not None
        instead = self._carry_out(outcome, wanted)
        if instead is not HOLD:
            self._link.to_broker(self.splitter.resume([wanted.frame] if instead is None else instead))

    def _carry_out(self, outcome: Outcome, wanted: Wanted) -> Sequence[Buffer] | None:
        """What goes to the broker: None for the frame as it came."""
        route, written = wanted.route, None
        if isinstance(outcome, ProtocolError):
            return self.undecodable(route, outcome)
        if isinstance(outcome, Written):
            outcome, written = outcome
        if isinstance(outcome, HandlerError):
            return self._failed(outcome, wanted, written)
        if isinstance(outcome, Disconnect):
            self.end(outcome.reason)
            return HOLD
        if isinstance(outcome, Reply):
            return self._reply(outcome, wanted, written)
        instead = written
        if isinstance(outcome, Forward) and written is None:
            assert route.request is not None
            try:
                body = route.request.write(outcome.message)
            except ProtocolError as error:
                return self._failed(HandlerError("Forward", error), wanted)
            instead = [SIZE.pack(len(wanted.header) + len(body)) + wanted.header + body]
        if wanted.acks != 0:
            self._slots.append((wanted.ctx.correlation_id, route, wanted.ctx))
            if outcome is None and route.glance is not None:
                route.glance.passed(wanted.ctx, wanted.frame, wanted.body)
        if isinstance(outcome, Forward) and outcome.end is not None:
            self.end(outcome.end)
        return instead

    def _reply(self, reply: Reply, wanted: Wanted, written: list[Buffer] | None) -> Sequence[Buffer]:
        """The proxy answers; the broker never sees the request."""
        self._link.counters.answered += 1
        if wanted.acks == 0:
            return ()
        version = wanted.route.version if reply.version is None else reply.version
        try:
            self._link.answer(*(written or [response_frame(reply.message, version, wanted.number)]))
        except ProtocolError as error:
            return self._failed(HandlerError("Reply", error), wanted)
        if reply.end is not None:
            self.end(reply.end)
            return HOLD
        return ()

    def _failed(self, error: HandlerError, wanted: Wanted, written: list[Buffer] | None = None) -> Sequence[Buffer]:
        """A handler raised: refuse the request as a broker would that failed, or close where that cannot be said."""
        route = wanted.route
        self._link.counters.failed_handlers += 1
        self._link.emit(HandlerFailed(error.handler, route.api, route.version, error.cause, error.at))
        try:
            if wanted.acks == 0:
                raise ProtocolError("acks 0 has no answer")
            written = at_once(self._slice_failure(wanted)) if written is None else written
            if not written:
                raise ProtocolError("has no place for an error")
            self._link.answer(*written)
        except ProtocolError:
            self.end(f"{error} failed on a {route.api.name} request")
            return HOLD
        return ()

    def undecodable(self, route: Route, error: ProtocolError) -> Sequence[Buffer]:
        """A request that somebody needs to know cannot be read: it is not passed on."""
        if isinstance(error, TooManyElementsError):
            self._link.counters.too_many_elements += 1
            self.end(f"the client sent a request that the proxy will not read: {error} (limits.elements)")
            return HOLD
        self._link.counters.undecodable += 1
        self._link.emit(Undecodable(route.api, route.version, detached(error)))
        self.end(f"the client sent a request that cannot be read: {error}")
        return HOLD

    def expect(self, route: Route, correlation_id: int) -> None:
        """This request will be answered by the broker."""
        self._slots.append((correlation_id, route, None))

    def hold(self) -> None:
        """The lane stopped: the client is not read until it goes on."""
        problem = self.splitter.problem
        if problem is not None and not self._ended:
            self._link.counters.bad_frames += 1
            self.end(f"the client sent what is no request: {problem}")
        if not self._paused:
            self._paused = True
            self._link.commands.append(PauseClient())

    def settle(self) -> None:
        """Go on with what was held, as far as it can."""
        while self.full and not self._turn.is_over and len(self._slots) < self._most and self._link.gate.ready():
            self.full = False  # what is resumed may turn the gate, and so be held again, behind it
            self._link.to_broker(self.splitter.resume())
        if self.splitter.held is not None:
            self.hold()
        elif self._paused:
            self._paused = False
            self._link.commands.append(ResumeClient())

    def end(self, reason: str) -> None:
        """Take nothing more from this client."""
        self._ended = True
        self.table = {}
        self._link.end(reason)
