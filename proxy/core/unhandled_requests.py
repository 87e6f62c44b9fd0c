"""Unhandled requests: those that pass without their handlers, since a fast path knows them or nobody handles them.

Rules:
* `fast_path.py` says which these are, and what observers are shown of them. Observers are told their outcomes, too.
* A fast path is asked once about each request. If it raises, the handler is asked, and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from proxy.core.context import Context
from proxy.core.counted_chain import CountedChain
from proxy.core.failure import FAILURES
from proxy.core.filter_chain import FilterChain
from proxy.core.inflight import Slot
from proxy.core.lane import State
from proxy.core.readers import Passing
from proxy.core.request_lane import RequestLane
from proxy.core.request_topics import Topics
from proxy.protocol.api import PRODUCE
from proxy.protocol.frame import Head, Hold, Reader
from proxy.protocol.problem import ProtocolError

CHANGED = "what allowed a request changed before it was whole"


class UnhandledRequests(RequestLane):
    """`Requests` without meeting and reading requests."""

    __slots__ = ()

    def _hold_again(self, chain: FilterChain, state: State) -> Hold:
        """Hold this request, and meet it again when the lane goes on."""
        chain.requests -= 1
        return self.hold(state)

    def _meet_again(self, chain: FilterChain, ctx: Context, frame: memoryview, state: State) -> Hold:
        """The same for a request that was assembled. Meanwhile its filters may have been replaced."""
        self._outcomes.forget(ctx)
        self.splitter.give_back(frame)
        # What replaced filters counted may be added up already: the present ones count it one time less.
        return self._hold_again(self._in_force(chain) or chain, state)

    def _few(self, chain: FilterChain, frame: memoryview) -> int | None:
        """How many elements handlers will look at in this whole request, if they are few."""
        body = self._heads.body(chain, frame)
        return 0 if body is None else chain.few(chain.api.request, frame, body)

    def _sample(self, chain: FilterChain, head: Head, frame: memoryview, size: int) -> Context | None:
        """The sample that this request is like and may pass by; None: its handler has to see it."""
        if chain.fast_path is None:
            return None
        try:
            return chain.fast_path.passes(self._connection, head[1], frame, size)
        except FAILURES:
            return None  # its handler is asked now, and says what is wrong

    def _shows(
        self,
        chain: FilterChain,
        head: Head,
        frame: memoryview,
        size: int,
        body: int,
        topics: Topics | None = None,
    ) -> bool:
        """Show a small request, or its topics, to its observers, and let it pass. False: it has to be handled."""
        shown, acks = chain.shown, 1
        assert shown is not None
        sample = self._sample(chain, head, frame, size)
        if sample is None:
            if chain.handled:
                return False
            if chain.api is PRODUCE:
                said = chain.acks(frame, body)
                if said is None:
                    return False
                acks = said
        try:
            message = shown.read(bytes(frame[body:])) if topics is None else topics
        except ProtocolError:
            return False
        ctx = self._begin(chain, head, size, sample)
        self._outcomes.show_at_once(ctx, shown.observers if topics is None else shown.told, message)
        if chain.observers:
            self._outcomes.sent(ctx)
        self._sent(chain.after_fast_path or chain, head[2], ctx, acks)
        return True

    def _passes(self, chain: FilterChain, head: Head, frame: memoryview, size: int, ctx: Context | None = None) -> bool:
        """Is it known that this request may pass? `ctx`: its own, if it has one already."""
        sample = self._sample(chain, head, frame, size)
        if sample is None:
            return False
        if ctx is not None:
            ctx.notes.update(sample.notes)
        elif chain.observers:
            ctx = self._begin(chain, head, size, sample)
        if ctx is not None:
            self._outcomes.sent(ctx)
        self._slots.append((head[2], chain.after_fast_path or chain, sample if ctx is None else ctx))
        return True

    def _rest(self, chain: FilterChain, is_whole: bool) -> Reader | None:
        """The reader of the rest of a request that passes. If it has handlers, a sample let it: it is in flight."""
        if is_whole or not chain.handled:
            return None
        slot = self._slots[-1]
        sample = slot[2][2] if type(slot[1]) is CountedChain else slot[2]
        still = sample.still
        return None if still is None else Passing(partial(self._last_byte, still, slot))

    def _last_byte(self, still: Callable[[], bool], slot: Slot) -> Hold | None:
        """The last byte of this request came. If it may not pass any more, the broker has only the others."""
        if still():
            return None
        if not self._slots or self._slots[-1] is not slot:
            return self.withhold(None, CHANGED)  # it has its answer, and its outcome was told
        self._slots.pop()
        number, chain, ctx = slot
        if type(chain) is CountedChain:
            ctx = self._counted.reopen(chain, number, ctx)
        return self.withhold(None if ctx.sample else ctx, CHANGED)

    def _send_unread(self, chain: FilterChain, ctx: Context) -> None:
        """A request that no plugin reads goes to the broker. Observers are told its outcome."""
        self._outcomes.sent(ctx)
        self._slots.append((ctx.correlation_id, chain, ctx))

    def _begin(self, chain: FilterChain, head: Head, size: int, sample: Context | None = None) -> Context:
        """The context of this request; `sample`: that of the request that it is like."""
        if sample is None:
            # With keyword arguments, or without the dict, this takes 0.3 us more.
            ctx = Context(self._connection, chain.api, chain.version, head[2], {}, size)
        else:
            ctx = sample.for_request(head[2], size)
        if chain.observers:
            self._outcomes.begin(ctx, chain.observers)
        return ctx
