"""Requests: the lane from the client to the broker.

Rules:
* A request that no plugin wants is noted in flight and passes. If observers are told of it and its header comes in
  pieces, it waits until it is whole, since they are told who sent it. A Produce request may be too large to hold: it
  waits until no other is in flight, and then passes.
* A request that a plugin wants waits for its handlers, and all requests behind it wait too: Kafka serves one request of
  a connection at a time.
* A request with another client id than those in flight waits for their answers. Some handlers decide `in_turn`: a
  request that they want waits while an older one may be waiting at the broker, such as a Fetch.
* A request that was assembled, and began before other filters came into force, is met anew by these: its last byte
  may come half an hour after its first.
* After much work in small requests the other connections have their turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from proxy.core.admission import Admission
from proxy.core.context import Context
from proxy.core.failure import FAILURES
from proxy.core.filter_chain import FilterChain
from proxy.core.lane import State
from proxy.core.parts import Parts
from proxy.core.request_heads import HEAD
from proxy.core.turn import ASKED, work_of
from proxy.core.unhandled_requests import UnhandledRequests
from proxy.core.wanted import Wanted
from proxy.protocol.api import PRODUCE
from proxy.protocol.frame import HOLD, SIZE, Buffer, Head, Reader, Stranger
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.slices import LARGE_REQUEST


class Requests(UnhandledRequests):
    """Meets every request once, and reads those that plugins want.

    `stranger` is asked about a request that has no filter chain.
    """

    __slots__ = ("_passing", "stranger")

    def __init__(self, parts: Parts, admission: Admission) -> None:
        super().__init__(parts, admission)
        self._passing = self._heads.passing
        self.stranger: Stranger

    def meet(self, head: Head, data: memoryview, pos: int) -> Reader | None:
        """A request begins at `pos`."""
        chain = self._admission.table.get(head[1])
        if chain is None or len(self._slots) >= self._most:
            return self._meet_no_chain(head)
        chain.requests += 1
        if not chain.sees_request:
            self._slots.append((head[2], chain, None))
            return None
        if chain.in_turn and self._slots and self._inflight.may_wait:
            return self._hold_again(chain, State.BEHIND)
        for passing in self._passing.get(head[1], ()):
            if not passing.least <= head[0] <= passing.most:
                continue
            try:
                if passing.layout.unpack_from(data, pos + HEAD) != passing.begun:
                    continue
                if passing.sample is None:  # no handler wants it
                    self._slots.append((head[2], chain, None))  # 0.3 us, while looking takes 1.2
                    return None
                size, rest, shown, topics = SIZE.size + head[0], passing.rest, chain.shown, passing.topics
                is_whole = size <= len(data) - pos
                if shown is not None and topics is None:
                    assert shown.topics is not None  # otherwise no beginnings are remembered
                    topics = shown.topics.find(data[pos : pos + size], passing.body)
                    if topics is None:
                        continue
                if rest is None:
                    may_pass = passing.holds()
                else:
                    may_pass = (is_whole or not passing.whole) and rest(data, pos + passing.end, pos + size)
            except FAILURES:
                continue  # more bytes are to come, or its handler is asked now, and says what is wrong
            if may_pass:
                about = passing.sample
                if shown is not None:
                    assert topics is not None
                    ctx = about.for_request(head[2], size)
                    self._outcomes.show_at_once(ctx, shown.told, topics)
                    if chain.keeps_context:
                        about = ctx
                self._slots.append((head[2], chain.after_fast_path or chain, about))
                return None if is_whole else self._rest(chain, False)
        if self.turn.is_spent:
            self.turn.end()
            return self._hold_again(chain, State.TURN)
        size = SIZE.size + head[0]
        frame = data[pos : pos + size]
        if self._slots and self._heads.is_of_another(chain, frame):
            return self._hold_again(chain, State.OTHER_CLIENT)
        counted = self._admission.filters.counted.get(head[1])
        if counted is not None and self._counted.ask(counted, head, data, pos, self._heads):
            return self._rest(chain, size <= len(data) - pos)
        if chain.request is not None:
            return self._want(chain, head, frame, size)
        if chain.api is PRODUCE and not self.turn.allows(0):
            return self._hold_again(chain, State.TURN)
        if chain.observers:
            return self._watch(chain, head, frame, size)
        return self._look_for_acks(chain, head, None, frame)

    def _meet_no_chain(self, head: Head) -> Reader | None:
        """This request has no filter chain, or too many requests are in flight."""
        if self.state is State.ENDED:
            return HOLD
        if len(self._slots) >= self._most:
            self._counters.full_pipelines += 1
            return self.hold(State.FULL)
        return self.stranger(head)

    def _watch(self, chain: FilterChain, head: Head, frame: memoryview, size: int) -> Reader | None:
        """No plugin reads this request, but observers are told its outcome."""
        who_is_known = self._heads.body(chain, frame) is not None
        if not who_is_known and chain.api is PRODUCE and self._slots:
            return self._hold_again(chain, State.OTHER_CLIENT)
        ctx = self._begin(chain, head, size)
        if not who_is_known and chain.api is not PRODUCE:
            self._met = chain, head, ctx, len(frame) < size
            return self  # observers would be told the client id of the request before
        if chain.api is PRODUCE:
            self._outcomes.sent(ctx)
            return self._look_for_acks(chain, head, ctx, frame)
        self._send_unread(chain, ctx)
        return None

    def _want(self, chain: FilterChain, head: Head, frame: memoryview, size: int) -> Reader | None:
        """A plugin wants this request, unless it is known that it may pass."""
        shown, body, topics = chain.shown, None, None
        if shown is not None:
            body = self._heads.body(chain, frame)
            topics = None if body is None or shown.topics is None else shown.topics.find(frame, body)
            if body is not None and topics is not None and self._shows(chain, head, frame, size, body, topics):
                return self._rest(chain, len(frame) == size)
        elif chain.fast_path is not None and self._passes(chain, head, frame, size):
            return self._rest(chain, len(frame) == size)
        is_whole = len(frame) == size
        few = self._few(chain, frame) if is_whole else None
        if not self.turn.allows(work_of(size, few, ASKED)):
            return self._hold_again(chain, State.TURN)
        is_small = few is not None or (is_whole and size <= LARGE_REQUEST)
        if is_small and body is not None and topics is None and self._shows(chain, head, frame, size, body):
            return None
        ctx = self._begin(chain, head, size)
        self._met, self._large = (chain, head, ctx, not is_whole), few is None
        return self

    def read(self, frame: memoryview, last: bool) -> Sequence[Buffer] | None:
        """Handle a whole request that a plugin wants, or whose header was cut."""
        met: tuple[FilterChain, Head, Context, bool] = self._met
        chain, head, ctx, was_cut = met
        self._met = None  # what handlers note in the context may be large
        if was_cut and not self._is_in_force(chain):
            return self._meet_again(chain, ctx, frame, State.TURN)
        if was_cut and self._slots and self._heads.is_of_another(chain, frame):
            return self._meet_again(chain, ctx, frame, State.OTHER_CLIENT)
        if was_cut and chain.shown is None and self._passes(chain, head, frame, len(frame), ctx):
            return None
        try:
            body = self._heads.body(chain, frame)
            acks = None if body is None else chain.acks(frame, body) if chain.api is PRODUCE else 1
            if body is None or acks is None:
                raise ProtocolError("ends too early", fault=Fault.CLIENT, api=chain.api.name, version=chain.version)
        except ProtocolError as error:
            return self.withhold(ctx, self.handled.undecodable(chain, error))
        if chain.request is None:
            self._send_unread(chain, ctx)
            return None
        wanted = Wanted(chain, ctx, frame, body, acks)
        if was_cut:
            self._large = chain.few(chain.api.request, frame, body) is None
        wanted.is_large = self._large and len(frame) > LARGE_REQUEST
        if chain.shown is not None and (was_cut or wanted.is_large):
            sample = self._sample(chain, head, frame, len(frame))
            if sample is not None:
                ctx.notes.update(sample.notes)
                wanted.passes = True
        return self._handle(wanted, was_cut)
