"""Requests: the lane from the client to the broker.

Rules:
* A request that nobody wants is noted in flight and flows on. One that somebody wants waits for its handlers, and all
  that came after it waits with it: Kafka serves one request of a connection at a time.
* What is not known to be harmless is not passed on: a handler that raises refuses its request, and a frame that a
  handler needs and that cannot be read ends the conversation.
* Acks 0 has no answer: no slot is kept for it, and a refusal of it can only be a closed connection (hazard 20).
* A large request is read, judged and answered in slices; after much work in small ones the others have their turn.
* Every request that the proxy answers leaves by `_answer`, every one that it ends the conversation for by `_give_up`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from proxy.core.admission import Admission
from proxy.core.commands import PauseClient, ResumeClient
from proxy.core.context import Connection, Context
from proxy.core.decisions import TURN, Cut, Decision, Disconnect, Forward, How, Raw, Reply, Step
from proxy.core.events import HandlerFailed, Undecodable
from proxy.core.failure import detached
from proxy.core.filters import FilterChain
from proxy.core.handling import HandlerError, Replied, failing_closed, request_steps
from proxy.core.inflight import Answer, InFlight
from proxy.core.lane import Lane, State
from proxy.core.limits import Counters, Limits
from proxy.core.outbox import Outbox
from proxy.core.outcome import By, Outcomes
from proxy.core.readers import AcksReader, Wanted
from proxy.core.request_heads import HEAD, RequestHeads
from proxy.core.task import WAITING, Result, Task, WaitingTasks, Written
from proxy.protocol.api import PRODUCE
from proxy.protocol.codec import slice_decode
from proxy.protocol.errors import ErrorCode
from proxy.protocol.fiber import at_once, in_slices
from proxy.protocol.frame import HOLD, REQUEST_HEAD, SIZE, Buffer, Head, Hold, Reader, Stranger
from proxy.protocol.header import framed, response_frame, slice_response_frame
from proxy.protocol.problem import Fault, ProtocolError, TooManyElementsError
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Message, Response
from proxy.protocol.slices import LARGE, Sliced


class Requests(Lane):
    """Meets every request once, and reads those that somebody wants.

    `answer` takes an answer of ours; `stranger` is asked about a request that has no filter chain.
    """

    pauses, resumes = PauseClient, ResumeClient

    def __init__(
        self,
        connection: Connection,
        admission: Admission,
        inflight: InFlight,
        outcomes: Outcomes,
        tasks: WaitingTasks,
        outbox: Outbox,
        limits: Limits,
        counters: Counters,
    ) -> None:
        super().__init__(tasks, outbox, REQUEST_HEAD, self.meet, Fault.CLIENT, limits.frame)
        self.answer: Callable[[Answer], None]
        self.stranger: Stranger
        self._connection = connection
        self._admission = admission
        self._slots = inflight.slots
        self._outcomes = outcomes
        self._tasks = tasks
        self._counters = counters
        self._most = limits.in_flight
        self._elements = limits.elements
        self._heads = RequestHeads(connection)
        self._met: tuple[FilterChain, Head, Context, bool]  # to be read; was it cut?
        self._waiting: Wanted | None = None  # for its handlers
        self.is_over = False  # nothing more comes
        self.unsettled = False  # there may be something to settle whatever comes

    @property
    def settled(self) -> bool:
        """Is all that came dealt with?"""
        return not self._slots and (self.state is State.ENDED or self.splitter.held is None)

    @property
    def held(self) -> int:
        """Bytes that wait in this lane."""
        return self.splitter.kept + (self._waiting.held if self._waiting is not None else 0)

    def meet(self, head: Head, data: memoryview, pos: int) -> Reader | None:
        """A request begins at `pos`."""
        chain = self._admission.table.get(head[1])
        if chain is None or len(self._slots) >= self._most:
            return self._meet_no_chain(head)
        chain.requests += 1
        if not chain.sees_request:
            self._slots.append((head[2], chain, None))
            return None
        size, heads = SIZE.size + head[0], self._heads
        if chain is heads.chain and data[pos + HEAD : pos + heads.acks_end] == heads.begun and heads.acks_end <= size:
            self._slots.append((head[2], chain, None))  # 0.3 us, where looking takes 1.2
            return None
        if chain.request is not None:
            return self._want(chain, head, data[pos : pos + size], size)
        if chain.observers:
            return self._watch(chain, head, data[pos : pos + size], size)
        return self._look_for_acks(chain, head, None, data[pos : pos + size])

    def _meet_no_chain(self, head: Head) -> Reader | None:
        """Nothing can be done with this request, or not now."""
        if self.state is State.ENDED:
            return HOLD
        if len(self._slots) >= self._most:
            self._counters.full_pipelines += 1
            return self.hold(State.FULL)
        return self.stranger(head)

    def _watch(self, chain: FilterChain, head: Head, frame: memoryview, size: int) -> Reader | None:
        """Nobody reads this request, but somebody is told what becomes of it."""
        ctx = self._begin(chain, head, size)
        self._outcomes.sent(ctx)
        if chain.api is PRODUCE:
            return self._look_for_acks(chain, head, ctx, frame)
        self._slots.append((head[2], chain, ctx))
        return None

    def _begin(self, chain: FilterChain, head: Head, size: int, sample: Context | None = None) -> Context:
        """The context of this request; `sample`: it is like that one."""
        if sample is None:
            ctx = Context(self._connection, chain.api, chain.version, head[2], request_bytes=size)
        else:
            ctx = sample.of_like(head[2], size)
        if chain.observers:
            self._outcomes.begin(ctx, chain.observers)
        return ctx

    def _look_for_acks(self, chain: FilterChain, head: Head, ctx: Context | None, frame: memoryview) -> Reader | None:
        """Of this request only its acks matter; `frame` is what came of it."""
        found = partial(self._sent, chain, head[2], ctx)
        acks = self._heads.acks(chain, frame)
        if acks is not None:
            if acks and ctx is None:
                self._heads.remember(chain, frame)
            found(acks)
            return None
        return AcksReader(partial(self._heads.acks, chain), found, partial(self._without_acks, chain, ctx))

    def _sent(self, chain: FilterChain, correlation_id: int, ctx: Context | None, acks: int) -> None:
        """This request goes to the broker, which answers it unless its acks are 0."""
        if acks != 0:
            self._slots.append((correlation_id, chain, ctx))
        elif ctx is not None:
            self._outcomes.end(ctx, By.NOBODY, "acks 0 has no answer")

    def _without_acks(self, chain: FilterChain, ctx: Context | None) -> Sequence[Buffer]:
        error = ProtocolError("ends before its acks", fault=Fault.CLIENT, api=chain.api.name, version=chain.version)
        return self._undecodable(chain, ctx, error)

    def _want(self, chain: FilterChain, head: Head, frame: memoryview, size: int) -> Reader | None:
        """Somebody wants to read this request, unless it is known that it may pass."""
        if chain.fast_path is not None and self._passes(chain, head, frame, size):
            return None
        if not self.turn.allows(head[0]):
            chain.requests -= 1  # it begins again
            return self.hold(State.TURN)
        ctx = self._begin(chain, head, size)
        self._met = chain, head, ctx, len(frame) < size
        return self

    def _passes(self, chain: FilterChain, head: Head, frame: memoryview, size: int, ctx: Context | None = None) -> bool:
        """Is it known that this request may pass? `ctx`: its own, where it has one already."""
        assert chain.fast_path is not None
        try:
            sample = chain.fast_path.passes(self._connection, head[1], frame, size)
        except Exception:
            return False  # its handler is asked now, and says what is wrong
        if sample is None:
            return False
        if ctx is not None:
            ctx.notes.update(sample.notes)
        elif chain.observers:
            ctx = self._begin(chain, head, size, sample)
        if ctx is not None:
            self._outcomes.sent(ctx)
        self._slots.append((head[2], chain.passed, sample if ctx is None else ctx))
        return True

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer] | None:
        """The whole of a request that somebody wants."""
        chain, head, ctx, was_cut = self._met
        if was_cut and chain.fast_path is not None and self._passes(chain, head, frame, len(frame), ctx):
            return None
        assert chain.request is not None
        wanted: Wanted | None = None
        try:
            body = self._heads.body(chain, frame)
            acks = None if body is None else chain.acks(frame, body) if chain.api is PRODUCE else 1
            if body is None or acks is None:
                raise ProtocolError("ends too early", fault=Fault.CLIENT, api=chain.api.name, version=chain.version)
            wanted = Wanted(chain, ctx, frame, body, acks)
            message = None if len(frame) > LARGE else chain.request.read(bytes(frame[body:]))
            steps = self._handle(wanted, message)
        except ProtocolError as error:
            if wanted is None:
                return self._undecodable(chain, ctx, error)
            steps = self._unread(wanted, detached(error))
        result = Task(self._tasks, steps, self._decided, may_ask=True).start()
        if result is WAITING:
            if not was_cut:  # otherwise it was assembled, and is ours
                wanted.frame = memoryview(bytes(frame))
            self._waiting = wanted
            return self.hold(State.WAITING)
        return self._carry_out(result, wanted)

    def _steps(self, wanted: Wanted, message: Message) -> Generator[Step, Any, Decision | Replied]:
        """Show a request to its observers, then to its handlers."""
        assert wanted.chain.request is not None
        self._outcomes.show(wanted.ctx, wanted.chain.request.observers, message)
        return request_steps(wanted.chain, wanted.ctx, message)

    def _handle(self, wanted: Wanted, message: Message | None) -> Generator[Step, Any, Result]:
        """What becomes of a request; without its message it is large, and read and written in slices."""
        interest, ctx = wanted.chain.request, wanted.ctx
        assert interest is not None
        if message is None:
            yield TURN
            ctx.is_large = wanted.is_read = True
            try:
                message = yield from interest.slice_read(wanted.frame, wanted.body, self._elements)
            except ProtocolError as error:
                return (yield from self._unread(wanted, detached(error)))
        try:
            decision = yield from self._steps(wanted, message)
            if not ctx.is_large:
                return decision
            if isinstance(decision, Reply):
                version = ctx.version if decision.version is None else decision.version
                return Written(decision, (yield from slice_response_frame(decision.message, version, wanted.number)))
            if isinstance(decision, Forward):
                return Written(decision, framed(wanted.header, (yield from interest.slice_write(decision.message))))
            return decision
        except HandlerError as error:
            failed = detached(error)
            if not ctx.is_large:
                return failed
        except ProtocolError as error:
            failed = HandlerError(type(decision).__name__, error)
        return Written(failed, (yield from self._slice_failure(wanted)))

    def _unread(self, wanted: Wanted, error: ProtocolError) -> Generator[Step, Any, Result]:
        """What becomes of a request that cannot be read, and that a broker might answer unread."""
        answering = wanted.chain.unreadable
        if answering is None or isinstance(error, TooManyElementsError):
            return error
        wanted.ctx.decided = answering.__qualname__
        try:
            return (yield from failing_closed(answering(wanted.ctx))) or error
        except HandlerError as failed:
            return detached(failed)

    def _slice_failure(self, wanted: Wanted) -> Sliced[list[Buffer]]:
        """The answer to a large request whose handlers failed; nothing where it cannot be given."""
        api, version = wanted.ctx.api, wanted.ctx.version
        with suppress(ProtocolError):
            request = yield from slice_decode(api.request, version, wanted.frame, wanted.body, self._elements)
            answer = yield from in_slices(refuse, api, version, request, ErrorCode.UNKNOWN_SERVER_ERROR)
            if answer is not None:
                self._show(wanted, answer)
                return (yield from slice_response_frame(answer, version, wanted.number))
        return []

    def _show(self, wanted: Wanted, answer: Response) -> None:
        """Show an answer of ours to its observers."""
        if wanted.chain.response is not None:
            self._outcomes.show(wanted.ctx, wanted.chain.response.observers, answer)

    def _decided(self, result: Result) -> None:
        """The handlers of the request that waited are done with it."""
        wanted, self._waiting = self._waiting, None
        assert wanted is not None
        self.state = State.OPEN
        instead = self._carry_out(result, wanted)
        if isinstance(instead, Hold):
            self._outbox.to_broker(instead)
        else:
            self._outbox.to_broker(self.splitter.resume([wanted.frame] if instead is None else instead))

    def _carry_out(self, result: Result, wanted: Wanted) -> Sequence[Buffer] | None:
        """What goes to the broker: None for the frame as it came."""
        chain, ctx, written = wanted.chain, wanted.ctx, None
        if isinstance(result, ProtocolError):
            return self._undecodable(chain, ctx, result)
        if isinstance(result, Written):
            result, written = result
        if isinstance(result, HandlerError):
            return self._failed(result, wanted, written)
        if isinstance(result, Disconnect):
            return self._give_up(ctx, result.reason, result.how)
        if isinstance(result, Reply):
            return self._reply(result, wanted, written)
        if isinstance(result, Replied):
            return self._reply_with(result.instead, result.reply, wanted)
        if isinstance(result, Cut):
            self._give_up(ctx, result.reason, result.how)
            return Hold((wanted.frame[: result.after],))
        instead = [result.data] if isinstance(result, Raw) else written
        if isinstance(result, Forward) and written is None:
            assert chain.request is not None
            try:
                body = chain.request.write(result.message)
            except ProtocolError as error:
                return self._failed(HandlerError("Forward", error), wanted)
            instead = [SIZE.pack(len(wanted.header) + len(body)) + wanted.header + body]
        self._outcomes.sent(ctx)
        self._sent(chain, ctx.correlation_id, ctx, wanted.acks)
        if wanted.acks != 0 and result is None and chain.fast_path is not None:
            chain.fast_path.passed(ctx, wanted.frame, wanted.body)
        if isinstance(result, Forward) and result.end is not None:
            self.give_up(result.end)
        return instead

    def _reply(self, reply: Reply, wanted: Wanted, written: list[Buffer] | None) -> Sequence[Buffer]:
        """A plugin answers; the broker never sees the request."""
        self._counters.answered += 1
        if wanted.acks == 0:
            self._outcomes.end(wanted.ctx, By.PLUGIN, wanted.ctx.decided)
            return ()
        version = wanted.chain.version if reply.version is None else reply.version
        try:
            pieces = written or [response_frame(reply.message, version, wanted.number)]
        except ProtocolError as error:
            return self._failed(HandlerError("Reply", error), wanted)
        self._show(wanted, reply.message)
        self._answer(wanted.ctx, pieces, By.PLUGIN, wanted.ctx.decided)
        return () if reply.end is None else self.give_up(reply.end)

    def _reply_with(self, instead: Raw | Cut, reply: Reply, wanted: Wanted) -> Sequence[Buffer]:
        """A plugin answers, and another has other bytes sent for it."""
        if isinstance(instead, Raw):
            return self._reply(reply, wanted, [instead.data])
        version = wanted.chain.version if reply.version is None else reply.version
        try:
            frame = response_frame(reply.message, version, wanted.number)
        except ProtocolError as error:
            return self._failed(HandlerError("Reply", error), wanted)
        self._answer(wanted.ctx, [frame[: instead.after]], By.PLUGIN, wanted.ctx.decided)
        return self.give_up(instead.reason, instead.how)

    def _failed(self, error: HandlerError, wanted: Wanted, written: list[Buffer] | None = None) -> Sequence[Buffer]:
        """A handler raised: refuse the request as a broker would that failed, or close where that cannot be said."""
        chain, ctx = wanted.chain, wanted.ctx
        self._counters.failed_handlers += 1
        self._outbox.emit(HandlerFailed(error.handler, chain.api, chain.version, error.cause, error.at))
        why = f"{error} failed on a {chain.api.name} request"
        if written is None and wanted.acks != 0:
            written = at_once(self._slice_failure(wanted))
        if not written or wanted.acks == 0:  # there is no answer, or it has no place for an error
            return self._give_up(ctx, why)
        self._answer(ctx, written, By.PROXY, why)
        return ()

    def _answer(self, ctx: Context, pieces: Sequence[Buffer], by: By, why: str | None) -> None:
        """An answer of ours to this request."""
        self._outcomes.answered(ctx)
        self.answer(Answer(pieces, ctx, by, why))

    def _undecodable(self, chain: FilterChain, ctx: Context | None, error: ProtocolError) -> Sequence[Buffer]:
        """A request that somebody needs to know cannot be read: it is not passed on."""
        if isinstance(error, TooManyElementsError):
            self._counters.too_many_elements += 1
            return self._give_up(
                ctx, f"the client sent a request that the proxy will not read: {error} (limits.elements)"
            )
        self._counters.undecodable += 1
        self._outbox.emit(Undecodable(chain.api, chain.version, detached(error)))
        return self._give_up(ctx, f"the client sent a request that cannot be read: {error}")

    def _give_up(self, ctx: Context | None, reason: str, how: How = How.CLOSE) -> Sequence[Buffer]:
        """End the conversation instead of answering this request."""
        if ctx is not None:
            self._outcomes.end(ctx, By.NOBODY, reason)
        return self.give_up(reason, how)

    def stop(self) -> None:
        """The lane holds something back: the client is not read until it goes on."""
        problem = self.splitter.problem
        if problem is not None and self.state is not State.ENDED:
            self._counters.bad_frames += 1
            self.give_up(f"the client sent what is no request: {problem}")
        self.pause()

    def settle(self) -> None:
        """Go on with what was held, as far as it can."""
        while self._may_go_on():  # what is resumed may turn the gate, and so be held again, behind it
            self.state = State.OPEN
            self._outbox.to_broker(self.splitter.resume())
        self.stop()

    def _may_go_on(self) -> bool:
        if self.state not in (State.FULL, State.GATED, State.TURN) or self.turn.is_over:
            return False
        return len(self._slots) < self._most and not self._admission.is_closed

    def be_over(self) -> None:
        """Nothing more comes from this client."""
        self.is_over = self.unsettled = True

    def give_up(self, reason: str | None, how: How = How.CLOSE) -> Sequence[Buffer]:
        """Take nothing more from this client; what is asked is answered before the link closes."""
        self.be_over()
        self._admission.end()
        return self.end(reason, how)
