"""Responses: the lane from the broker to the client.

Rules:
* Every answer is paired with the oldest request in flight; one that fits no request means that the upstream connection
  cannot be trusted any more: the link closes.
* An answer to a question of ours goes to the handler that asked, never to the client.
* What a handler needs to see and cannot be read, or what a handler raised on, is withheld: the link closes.
* While a handler waits, the broker is not read: at most the rest of one chunk is kept.
* A large response is read, judged and written in slices; after much work in small ones the others have their turn.
* Only the tagged fields at the very end of a response may be wanted of one too large to hold; see `Ending`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from proxy.core.commands import PauseBroker, ResumeBroker
from proxy.core.context import Context
from proxy.core.decisions import TURN, Disconnect, Forward, Step
from proxy.core.events import HandlerFailed, Undecodable
from proxy.core.failure import detached
from proxy.core.inflight import OURS, Slot
from proxy.core.pipeline import HandlerError, response_pipeline
from proxy.core.readers import Ending, Wanted
from proxy.core.route import Route
from proxy.core.run import WAITING, Outcome, Question, Run, Written
from proxy.core.turn import Turn
from proxy.protocol.codec import decode_ignoring_rest, slice_decode
from proxy.protocol.frame import HOLD, RESPONSE_HEAD, SIZE, Buffer, Hold, Reader, Splitter
from proxy.protocol.header import LONGEST, answered_version, framed, read_response_header
from proxy.protocol.problem import Fault, ProtocolError, TooManyElementsError
from proxy.protocol.slices import LARGE

if TYPE_CHECKING:
    from proxy.core.link import Link

UNASSEMBLED = 64 << 10  # from here on a response whose last tags are wanted is not assembled any more


class Responses:
    """Pairs every response, and reads those that somebody wants."""

    whole, blind = True, 0  # as a Reader

    def __init__(self, link: Link) -> None:
        self._link = link
        self._inflight = link.inflight
        self._slots = link.inflight.slots
        self.splitter = Splitter(RESPONSE_HEAD, self.meet, Fault.BROKER, longest=link.limits.frame)
        self.feed = self.splitter.feed
        self._slot: Slot | None = None  # of the frame to be read
        self._cut = False
        self._turn = Turn(link)
        self._asked: tuple[Question, Buffer] | None = None  # a question of ours, and its answer
        self._waiting: Wanted | None = None  # for its handlers
        self._broken = False  # nothing more is believed
        self._reason = ""
        self._paused = False

    @property
    def idle(self) -> bool:
        """May an answer of ours leave without cutting into another?"""
        return self.splitter.between and self.splitter.held is None

    @property
    def held(self) -> int:
        """Bytes that wait in this lane."""
        asked = len(self._asked[1]) if self._asked is not None else 0
        return self.splitter.kept + asked + (self._waiting.held if self._waiting is not None else 0)

    def meet(self, head: tuple[int, int], data: memoryview, pos: int) -> Reader | None:
        """A response begins at `pos`."""
        slots = self._slots
        if not slots:
            return self._unpaired(f"the broker answered {head[1]}, but nothing was asked")
        slot = slots[0]
        if slot[1] is OURS:
            return HOLD  # settle() lets it out first
        if slot[0] != head[1]:
            return self._unpaired(f"the broker answered {head[1]} where {slot[0]} was due")
        slots.popleft()
        if slot[1].response is None:
            return None
        return self._look(slot, data, pos, pos + SIZE.size + head[0])

    def _look(self, slot: Slot, data: memoryview, pos: int, stop: int) -> Reader | None:
        """Something of this response is wanted."""
        met, route = slot, slot[1]
        if type(route) is Route and route.unneeded is not None:
            route = route.of_response(slot[2])
            if route.response is None:
                return None
            slot = (slot[0], route, slot[2])
        if type(route) is Route and route.tail_only:
            if stop <= len(data) and route.ends_bare(data, pos, stop):
                return None
            if stop - pos > UNASSEMBLED:
                return Ending(route, stop - pos, self._undecodable)
        if not self._turn.allows(stop - pos):
            self._slots.appendleft(met)
            return HOLD
        self._slot, self._cut = slot, stop > len(data)
        return self

    def _unpaired(self, reason: str) -> Hold:
        self._link.counters.broken_pairs += 1
        return self.distrust(reason)

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer] | None:
        """The whole of a response that somebody wants."""
        assert self._slot is not None
        correlation_id, route, ctx = self._slot
        if isinstance(route, Question):
            answer = frame[SIZE.size :]
            self._asked = route, answer if self._cut else bytes(answer)
            return HOLD  # its handler goes on in settle(), when what came before has left
        assert route is not None
        assert route.response is not None
        try:
            body = route.response_body(frame[:LONGEST])
            if body is None:
                raise ProtocolError("ends within its header", fault=Fault.BROKER, api=route.api.name)
            if ctx is None:
                ctx = Context(self._link.connection, route.api, route.version, correlation_id)
            wanted = Wanted(route, ctx, frame, body)
            steps: Generator[Step, Any, Outcome]
            if len(frame) > LARGE:
                steps = self._slice(wanted)
            else:
                steps = response_pipeline(route.response.handlers, ctx, route.response.read(bytes(frame[body:])))
        except ProtocolError as error:
            return self._undecodable(route, error)
        outcome = Run(self._link, steps, self._decided, may_ask=False).start()
        if outcome is WAITING:
            if not self._cut:  # otherwise it was assembled, and is ours
                wanted.frame = memoryview(bytes(frame))
            self._waiting = wanted
            return HOLD
        return self._carry_out(outcome, wanted)

    def _slice(self, wanted: Wanted) -> Generator[Step, Any, Outcome]:
        """The same of a large response, in slices; and what leaves for it is written in slices."""
        yield TURN
        interest = wanted.route.response
        assert interest is not None
        try:
            message = yield from interest.slice_read(wanted.frame, wanted.body, self._link.limits.elements)
        except ProtocolError as error:
            return detached(error)
        decision = yield from response_pipeline(interest.handlers, wanted.ctx, message)
        if not isinstance(decision, Forward):
            return decision
        try:
            return Written(decision, framed(wanted.header, (yield from interest.slice_write(decision.message))))
        except ProtocolError as error:
            return HandlerError("Forward", error)

    def _decided(self, outcome: Outcome) -> None:
        """The handlers of the response that waited are done with it."""
        wanted, self._waiting = self._waiting, None
        assert wanted is not None
        instead = self._carry_out(outcome, wanted)
        if instead is not HOLD:
            self._link.to_client([wanted.frame] if instead is None else list(instead))

    def _carry_out(self, outcome: Outcome, wanted: Wanted) -> Sequence[Buffer] | None:
        """What goes to the client: None for the frame as it came."""
        route = wanted.route
        if outcome is None:
            return None
        if isinstance(outcome, Written):
            return outcome.frame
        if isinstance(outcome, ProtocolError):
            return self._undecodable(route, outcome)
        try:
            if isinstance(outcome, HandlerError):
                raise outcome
            if isinstance(outcome, Forward):
                assert route.response is not None
                body = route.response.write(outcome.message)
                return [SIZE.pack(len(wanted.header) + len(body)) + wanted.header + body]
        except (HandlerError, ProtocolError) as error:
            failed = detached(error) if isinstance(error, HandlerError) else HandlerError("Forward", error)
            self._link.counters.failed_handlers += 1
            self._link.emit(HandlerFailed(failed.handler, route.api, route.version, failed.cause, failed.at))
            return self.distrust(f"{failed} failed on a {route.api.name} response")
        assert isinstance(outcome, Disconnect)
        return self.distrust(outcome.reason)

    def _undecodable(self, route: Route, error: ProtocolError) -> Sequence[Buffer]:
        """A response that somebody needs to know cannot be read: it is not passed on."""
        if isinstance(error, TooManyElementsError):
            self._link.counters.too_many_elements += 1
            return self.distrust(f"the broker sent a response that the proxy will not read: {error} (limits.elements)")
        self._link.counters.undecodable += 1
        self._link.emit(Undecodable(route.api, route.version, detached(error)))
        return self.distrust(f"the broker sent a response that cannot be read: {error}")

    def distrust(self, reason: str) -> Hold:
        """Nothing more of this broker is believed."""
        self._broken = True
        self._reason = reason
        return HOLD

    def settle(self) -> None:
        """Let out what is due, and go on with what was held, as far as it can."""
        link, splitter = self._link, self.splitter
        while not self._stuck():
            if self._asked is not None:
                self._answer(*self._asked)
            if self._inflight.ours and splitter.between:
                link.to_client(self._inflight.due())
            if splitter.held is None:
                break
            link.to_client(splitter.resume())
        if self._broken:
            link.close(self._reason)
        elif splitter.held is not None and not self._paused:
            self._paused = True
            link.commands.append(PauseBroker())
        elif splitter.held is None and self._paused:
            self._paused = False
            link.commands.append(ResumeBroker())

    def _stuck(self) -> bool:
        problem = self.splitter.problem
        if problem is not None and not self._broken:
            self._link.counters.bad_frames += 1
            self.distrust(f"the broker sent what is no response: {problem}")
        return self._broken or self._turn.is_over or self._waiting is not None or self._link.closed

    def _answer(self, question: Question, frame: Buffer) -> None:
        """The broker answered a question of ours."""
        self._asked = None
        api, version = question.ask.request.api, question.version
        try:
            _, body = read_response_header(api, version, frame)
            version = answered_version(api, version, frame[body : body + 2])
            if len(frame) > LARGE:
                question.run.read(slice_decode(api.response, version, frame, body, self._link.limits.elements))
                return
            message = decode_ignoring_rest(api.response, version, bytes(frame[body:]))
        except ProtocolError as error:
            question.run.fail(error)
        else:
            question.run.go_on(message)
