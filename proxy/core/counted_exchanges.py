"""Counted exchanges: the requests of one link that are counted with their answers, and seen by nobody.

Rules:
* `counting.py` says what is counted, and when a request is told of after all.
* The object that counts the requests of this connection is asked for once. A request that is counted takes a slot with
  its `CountedChain`.
* If counting raises, that is reported as the error of an observer, and the request or the answer is read.
"""

from __future__ import annotations

from proxy.core.context import Connection, Context
from proxy.core.counted_chain import CountedChain
from proxy.core.counting import ConnectionCounting, PendingCount
from proxy.core.failure import FAILURES, AnyFailure
from proxy.core.inflight import InFlight
from proxy.core.outcome import Outcomes
from proxy.core.request_heads import RequestHeads
from proxy.protocol.frame import SIZE, Head


class CountedExchanges:
    """The counted exchanges of one link."""

    __slots__ = ("_connection", "_counting", "_outcomes", "_slots")

    def __init__(self, connection: Connection, inflight: InFlight, outcomes: Outcomes) -> None:
        self._connection = connection
        self._slots = inflight.slots
        self._outcomes = outcomes
        self._counting: dict[CountedChain, ConnectionCounting] = {}

    def apply(self) -> None:
        """Other filters are in force."""
        self._counting.clear()

    def ask(self, counted: CountedChain, head: Head, data: memoryview, pos: int, heads: RequestHeads) -> bool:
        """Will this request be counted with its answer? Then it is in flight, and nobody sees it."""
        size, now = SIZE.size + head[0], self._outcomes.clock.now
        counting = self._counting.get(counted)
        try:
            if counting is None:
                counting = self._counting[counted] = counted.counting.of(self._connection)
            exchange = None
            if heads.version == counted.header_version:
                exchange = counting.ask(data, pos, size, heads.header, now)
            if exchange is None:
                if not heads.renews(counted.told, data[pos : pos + size]):
                    return False
                exchange = counting.ask(data, pos, size, heads.header, now)
                if exchange is None:
                    return False
        except FAILURES as error:
            self._failed(counted, counted.counting.of if counting is None else counting.ask, error)
            return False
        sample = None
        if counted.fast_path is not None:
            try:
                frame = data if not pos and len(data) == size else data[pos : pos + size]  # a slice takes 0.1 us
                sample = counted.fast_path.passes(self._connection, head[1], frame, size)
            except FAILURES:
                return False  # its handler is asked now, and says what is wrong
            if sample is None:
                return False
        self._slots.append((head[2], counted, (counting, exchange, sample)))
        return True

    def answer(
        self, counted: CountedChain, pending: PendingCount, data: memoryview, begin: int, end: int, answered: float
    ) -> bool:
        """Is this answer, which came at `answered`, counted with its request?"""
        counting, exchange, sample = pending
        try:
            if counted.asks and counted.told.of_response(sample) is counted.told:
                return False  # a handler needs to see it
            return counting.answer(exchange, data, begin, end, answered, self._outcomes.clock.now)
        except FAILURES as error:
            self._failed(counted, counting.answer, error)
            return False

    def reopen(self, counted: CountedChain, number: int, pending: PendingCount) -> Context:
        """The context of a request that was to be counted, but has to be told of."""
        told, (_, exchange, sample) = counted.told, pending
        if sample is None:
            ctx = Context(self._connection, told.api, told.version, number, {}, exchange.size)
        else:
            ctx = sample.for_request(number, exchange.size)
        return self._outcomes.reopen(ctx, told.observers, exchange, counted.counting.resume)

    def reopen_all(self) -> None:
        """No request in flight gets an answer: open all counted ones again, so that their outcomes are told."""
        for number, chain, pending in self._slots:
            if type(chain) is CountedChain:
                self.reopen(chain, number, pending)

    def _failed(self, counted: CountedChain, observer: object, error: AnyFailure) -> None:
        self._outcomes.failed(observer, counted.told.api, counted.told.version, error)
