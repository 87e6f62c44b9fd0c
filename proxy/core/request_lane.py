"""Request lane: how requests leave for the broker or are answered by the proxy, and how the lane ends.

Rules:
* A Produce request with acks 0 has no answer: no slot is kept for it, and it can only be refused by closing the
  connection (hazard 20).
* Every request that the proxy answers ends in `answer`. Every request that ends the conversation ends in
  `withhold`.
* A held request goes on as soon as it may: when answers came, the gate opened, or the others had their turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from proxy.core.admission import Admission
from proxy.core.context import Context
from proxy.core.decisions import How
from proxy.core.filter_chain import FilterChain
from proxy.core.handled_requests import HandledRequests
from proxy.core.inflight import Answer, Dropped
from proxy.core.lane import Lane, State
from proxy.core.limits import Limits
from proxy.core.outcome import By
from proxy.core.parts import Parts
from proxy.core.readers import AcksReader
from proxy.core.request_heads import RequestHeads
from proxy.core.sent_as import SentAs
from proxy.core.turn import UNANSWERED
from proxy.core.verdict import Verdict
from proxy.core.wanted import Wanted
from proxy.protocol.frame import HOLD, REQUEST_HEAD, Buffer, Head, Hold, Reader
from proxy.protocol.problem import Fault, ProtocolError

HELD = frozenset({State.FULL, State.OTHER_CLIENT, State.BEHIND, State.GATED, State.TURN})


class RequestLane(Lane):
    """`UnhandledRequests` without the requests. `let_out` has an answer of ours leave in its turn."""

    __slots__ = ("_admission", "_heads", "_inflight", "_most", "is_over", "let_out", "unsettled")

    may_ask = True

    def __init__(self, parts: Parts, admission: Admission) -> None:
        super().__init__(parts, REQUEST_HEAD, Fault.CLIENT, HandledRequests(parts))
        self.let_out: Callable[[Answer], None]
        self._admission = admission
        self._inflight = parts.inflight
        self._most = parts.limits.in_flight
        self._heads = RequestHeads(parts.connection, self.turn)
        self.is_over = False  # nothing more comes
        self.unsettled = False  # the link has to settle after every call

    @property
    def held(self) -> int:
        """Bytes that wait in this lane, and those of the header that is remembered."""
        return super().held + self._heads.held

    def apply(self, limits: Limits) -> None:
        """These limits are in force, and perhaps other filters."""
        super().apply(limits)
        self._most = limits.in_flight
        self.forget()

    def forget(self) -> None:
        """Forget how requests begin that pass, and what fast paths know of them; it is learned anew."""
        self._heads.passing.clear()
        self._connection.samples.clear()

    @property
    def is_done(self) -> bool:
        """Is all that came dealt with?"""
        return not self._slots and (self.state is State.ENDED or self.splitter.held is None)

    def _sent(self, chain: FilterChain, correlation_id: int, ctx: Context | None, acks: int) -> None:
        """This request goes to the broker, which answers it unless its acks are 0."""
        if acks != 0:
            self._slots.append((correlation_id, chain, ctx))
            return
        self.turn.count(UNANSWERED)
        if ctx is not None:
            self._outcomes.end(ctx, By.NOBODY, "acks 0 has no answer")

    def _look_for_acks(self, chain: FilterChain, head: Head, ctx: Context | None, frame: memoryview) -> Reader | None:
        """Only the acks of this request matter; `frame` is the part of it that came."""
        found = partial(self._sent, chain, head[2], ctx)
        acks = self._heads.acks(chain, frame)
        if acks is not None:
            if acks and ctx is None:
                self._heads.remember_acks(chain, frame)
            found(acks)
            return None
        return AcksReader(partial(self._heads.acks, chain), found, partial(self._without_acks, chain, ctx))

    def _without_acks(self, chain: FilterChain, ctx: Context | None) -> Sequence[Buffer]:
        error = ProtocolError("ends before its acks", fault=Fault.CLIENT, api=chain.api.name, version=chain.version)
        return self.withhold(ctx, self.handled.undecodable(chain, error))

    def _go_on(self, instead: Sequence[Buffer]) -> None:
        self._outbox.amid_request = False
        self._outbox.to_broker(instead if isinstance(instead, Hold) else self.splitter.resume(instead))

    def _carry_out(self, verdict: Verdict, wanted: Wanted) -> Sequence[Buffer] | None:
        """Do what the handlers decided. Returns what goes to the broker: None for the frame as it came."""
        pieces, ctx = verdict.pieces, wanted.ctx
        if not verdict.whole:
            self.withhold(ctx, verdict.ends, verdict.how)
            return Hold(pieces or ())
        if verdict.answered is not None:
            in_turn = wanted.chain.in_turn
            answer = Answer(pieces or (), ctx, verdict.answered, verdict.why, verdict.leaving, in_turn)
            self.answer(answer, wanted.acks)
            pieces = ()
        else:
            self._passed_on(verdict, wanted)
        if verdict.ends is not None:
            self.end(verdict.ends, verdict.how)
            return HOLD if verdict.answered is not None else pieces
        return pieces

    def _passed_on(self, verdict: Verdict, wanted: Wanted) -> None:
        """A request that handlers looked at goes to the broker."""
        chain, ctx = wanted.chain, wanted.ctx
        self._outcomes.sent(ctx)
        if verdict.version is None or wanted.acks == 0:
            self._sent(chain, ctx.correlation_id, ctx, wanted.acks)
        else:
            self._slots.append((ctx.correlation_id, SentAs(chain, verdict.version), ctx))
        if wanted.acks == 0:
            return
        if verdict.copies > 1:
            self._slots.extend([(ctx.correlation_id, Dropped(chain), None)] * (verdict.copies - 1))
        if verdict.pieces is None and chain.fast_path is not None and not wanted.passes and self._is_in_force(chain):
            own = ctx.without_notes(wanted.noted) if wanted.noted else ctx
            begins = chain.fast_path.learn(own, wanted.frame, wanted.body)
            if begins is not None and chain.only_topics_shown:
                sample = begins.sample or own.as_sample()
                self._heads.remember(chain, wanted.frame, wanted.body, begins._replace(sample=sample))

    def _is_in_force(self, chain: FilterChain) -> bool:
        """Is the next request handled like this? Otherwise nothing may be learned for it from one that began before."""
        return self._in_force(chain) is chain

    def _in_force(self, chain: FilterChain) -> FilterChain | None:
        """The chain of the next request that is of the same API and version."""
        return self._admission.filters.table.get(chain.key)

    def answer(self, answer: Answer, acks: int = 1) -> None:
        """An answer of ours to this request, unless it has none."""
        assert answer.ctx is not None
        self._counters.answered += 1
        self._outcomes.answered(answer.ctx)
        if acks == 0:
            self._outcomes.end(answer.ctx, answer.by, answer.why)
        else:
            self.let_out(answer)

    def _read(self, on: bool) -> None:
        self._outbox.read_client(on)

    def stop(self) -> None:
        """If the lane holds something back, the client is not read until it goes on."""
        problem = self.splitter.problem
        if problem is not None and self.state is not State.ENDED:
            self._counters.bad_frames += 1
            self.end(f"the client sent what is no request: {problem}")
        self.pause()

    def settle(self) -> None:
        """Go on with the held requests, as far as possible."""
        while self._may_go_on():  # a resumed request may turn the gate, and so hold back those behind it
            self.state = State.OPEN
            self._outbox.to_broker(self.splitter.resume())
        self.stop()

    def _may_go_on(self) -> bool:
        if self.state not in HELD or self.turn.is_over or (self.state is State.BEHIND and self._inflight.may_wait):
            return False
        most = 1 if self.state is State.OTHER_CLIENT else self._most
        return len(self._slots) < most and not self._admission.is_closed

    def be_over(self) -> None:
        """Nothing more comes from this client."""
        self.is_over = self.unsettled = True

    def end(self, reason: str | None, how: How = How.CLOSE) -> Hold:
        """Take nothing more from this client; requests under way are answered before the link closes."""
        self.be_over()
        self._admission.end()
        return super().end(reason, how)
