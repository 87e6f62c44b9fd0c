"""Responses: the lane from the broker to the client. Every response is met here, and passes or is read.

Rules:
* Every answer is paired with the oldest request in flight. An answer that fits no request closes the link: the upstream
  connection cannot be trusted any more.
* After much work in small responses the other connections have their turn.
* A response of which only the tagged fields at its very end are wanted may be too large to hold; see `Ending`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from proxy.core.context import Context
from proxy.core.counted_chain import CountedChain
from proxy.core.filter_chain import FilterChain
from proxy.core.inflight import OURS, Dropped, Slot
from proxy.core.lane import State
from proxy.core.parts import Parts
from proxy.core.pending_ask import PendingAsk
from proxy.core.readers import Dropping, Ending, Passing
from proxy.core.response_lane import ResponseLane
from proxy.core.sent_as import SentAs
from proxy.core.turn import ANSWERED, work_of
from proxy.core.wanted import Wanted
from proxy.protocol.frame import HOLD, SIZE, Buffer, Hold, Reader
from proxy.protocol.header import response_body_offset
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.slices import LARGE

UNASSEMBLED = 64 << 10  # bytes; a larger response of which only the last tags are wanted is not assembled


class Responses(ResponseLane):
    """Pairs every response, and reads those that plugins want."""

    __slots__ = ("_answered",)

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._answered = 0.0  # when the answer began that is being assembled for counting

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
        chain = slot[1]
        if not chain.sees_response:
            return None
        stop = pos + SIZE.size + head[0]
        if type(chain) is FilterChain:
            if chain.unread is not None:
                chain = chain.of_response(slot[2], data, pos, stop)
                if not chain.sees_response:
                    return None
            if chain.only_tail and stop <= len(data) and chain.ends_bare(data, pos, stop):
                return None  # `_look` would find the same, 0.3 us later
        if type(chain) is not CountedChain:
            return self._look(slot, chain, data, pos, stop)
        whole = stop <= len(data)
        if whole and self._counted.answer(chain, slot[2], data, pos, stop, self._outcomes.clock.now):
            return None
        return self._not_counted(slot, data, pos, stop)

    def _look(self, slot: Slot, chain: object, data: memoryview, pos: int, stop: int) -> Reader | None:
        """There is more to do with this response than to pass it on. `chain`: the slot's, or its `unread`."""
        number, _, ctx = slot
        is_whole = stop <= len(data)
        if type(chain) is FilterChain:
            if not chain.always_read:
                if chain.observers:
                    self._outcomes.answered(ctx)
                if chain.response is None or (chain.tail_only and is_whole and chain.ends_bare(data, pos, stop)):
                    if chain.observers.holders and self._holds_back(slot, stop - pos):
                        return HOLD
                    return self._pass(chain, ctx, stop - pos, is_whole)
                if chain.tail_only and stop - pos > UNASSEMBLED:
                    if chain.observers.holders and self._holds_back(slot, stop - pos):
                        return HOLD
                    left = partial(self._left, ctx, stop - pos)
                    return Ending(chain, stop - pos, left, partial(self._undecodable, chain, ctx))
            elif chain.repeated is not None:
                reader = chain.repeated.reader(data, pos, self._connection.topology)
                if reader is not None:
                    return reader if self.turn.allows(ANSWERED) else self._look_again(slot)
        elif type(chain) is SentAs:
            self._outcomes.answered(ctx)
        elif type(chain) is Dropped:
            return Dropping()
        frame = data[pos:stop]
        body = few = None
        if is_whole and type(chain) is FilterChain:
            body = chain.response_body(frame)
            few = 0 if body is None else chain.few(chain.api.response, frame, body)
        if not self.turn.allows(work_of(stop - pos, few, ANSWERED)):
            return self._look_again(slot)
        if type(chain) is FilterChain and chain.only_shows and body is not None:
            is_small = few is not None or stop - pos <= LARGE
            if is_small and self._shows(chain, number, ctx, frame, body):
                return None
        self._met, self._large = (chain, number, ctx, not is_whole, body), few is None
        return self

    def _look_again(self, slot: Slot) -> Hold:
        """The others have their turn; then this response is met again."""
        self._slots.appendleft(slot)
        return self.hold(State.TURN)

    def _shows(self, chain: FilterChain, number: int, ctx: Context | None, frame: memoryview, body: int) -> bool:
        """Show a small response to its observers, and let it pass. False: it has to be handled."""
        own = self._own(chain, number, ctx)
        if own.is_large:
            return False
        assert chain.response is not None
        try:
            message = chain.response.read(bytes(frame[body:]))
        except ProtocolError:
            return False
        self._outcomes.show_at_once(own, chain.response.observers, message)
        self._left(own, len(frame))
        return True

    def _not_counted(self, slot: Slot, data: memoryview, pos: int, stop: int) -> Reader | None:
        """An answer that is to be counted with its request, but is not whole yet or was not counted."""
        number, counted, pending = slot
        assert type(counted) is CountedChain
        if stop > len(data):
            self._met, self._answered = (counted, number, pending, True, None), self._outcomes.clock.now
            return self
        ctx, told = self._counted.reopen(counted, number, pending), counted.told
        return self._look((number, told, ctx), told.of_response(ctx, data, pos, stop), data, pos, stop)

    def end_counted(self) -> None:
        """The end comes in the middle of an answer that was to be counted: its request is told as one not counted."""
        if self._met is not None and type(self._met[0]) is CountedChain:
            counted, number, pending, was_cut, body = self._met
            ctx = self._counted.reopen(counted, number, pending)
            ctx.answered = self._answered
            self._met = counted.told, number, ctx, was_cut, body

    def _own(self, chain: FilterChain, number: int, ctx: Context | None) -> Context:
        """The request's own context, with which its answer is shown: no other request shares it."""
        if ctx is None:
            return Context(self._connection, chain.api, chain.version, number)
        return ctx.for_request(number) if ctx.sample else ctx

    def _pass(self, chain: FilterChain, ctx: Context | None, size: int, is_whole: bool) -> Reader | None:
        """No plugin reads this response."""
        if not chain.observers:
            return None
        if not is_whole:
            return Passing(partial(self._left, ctx, size))
        self._left(ctx, size)
        return None

    def _unpaired(self, reason: str) -> Hold:
        self._counters.broken_pairs += 1
        return self.end(reason)

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer] | None:
        """Handle a whole response that a plugin wants."""
        met: tuple[FilterChain | CountedChain | SentAs | PendingAsk, int, Any, bool, int | None] = self._met
        chain, correlation_id, ctx, was_cut, body = met
        self._met = None  # what handlers noted in the context may be large
        if isinstance(chain, PendingAsk):
            answer = frame[SIZE.size :]
            self._asked = chain, answer if was_cut else bytes(answer)
            return self.hold(State.WAITING)  # its handler goes on in settle(), when the bytes before it have left
        version = None
        if isinstance(chain, CountedChain):
            counted, pending = chain, ctx
            if self._counted.answer(counted, pending, frame, 0, len(frame), self._answered):
                return None
            ctx = self._counted.reopen(counted, correlation_id, pending)
            chain, ctx.answered = counted.told.of_response(ctx, frame, 0, len(frame)), self._answered
            if chain.response is None:
                self._left(ctx, len(frame))
                return None
        if isinstance(chain, SentAs):
            chain, version = chain.chain, chain.version
        ctx = self._own(chain, correlation_id, ctx)
        if body is None:
            body = chain.response_body(frame) if version is None else response_body_offset(chain.api, version, frame)
        if body is None:
            error = ProtocolError("ends within its header", fault=Fault.BROKER, api=chain.api.name)
            return self._undecodable(chain, ctx, error)
        wanted = Wanted(chain, ctx, frame, body, version=version)
        if was_cut and version is None:
            self._large = chain.few(chain.api.response, frame, body) is None
        wanted.is_large = self._large and len(frame) > LARGE
        return self._handle(wanted, was_cut)
