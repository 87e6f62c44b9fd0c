"""Response lane: how the broker's responses leave for the client, and how held ones go on.

Rules:
* Every response that answers a request ends in `_left`. A response that must not be believed or shown is withheld, and
  the link closes.
* An answer to a question of ours goes to the handler that asked, when all bytes before it have left.
* A held response goes on as soon as it may: when steps were taken, handlers decided, or the others had their turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from proxy.core.answer_lane import AnswerLane
from proxy.core.context import Context
from proxy.core.filter_chain import FilterChain
from proxy.core.lane import State
from proxy.core.outcome import BROKER, NOBODY
from proxy.core.parts import Parts
from proxy.core.pending_ask import PendingAsk
from proxy.core.verdict import Verdict
from proxy.core.wanted import Wanted
from proxy.protocol.frame import Buffer, Hold
from proxy.protocol.problem import ProtocolError


class ResponseLane(AnswerLane):
    """`Responses` without meeting and reading responses."""

    __slots__ = ("_asked",)

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._asked: tuple[PendingAsk, Buffer] | None = None  # a question of ours, and its answer

    @property
    def held(self) -> int:
        """Bytes that wait in this lane."""
        held = super().held
        if self._asked is not None:
            held += len(self._asked[1])
        if self._met is not None and self._met[2] is not None:
            pending = self._met[2]
            held += pending[1].held if type(pending) is tuple else pending.held
        return held

    def fall_silent(self) -> None:
        """Throw away what comes from now on."""
        super().fall_silent()
        self._asked = None

    def _left(self, ctx: Context | None, size: int) -> None:
        """The broker's answer, of so many bytes, goes to the client."""
        if ctx is not None:
            self._outcomes.end(ctx, BROKER, None, size)

    def _go_on(self, instead: Sequence[Buffer]) -> None:
        self._outbox.to_client(instead)  # `settle` goes on with the frames behind it

    def _carry_out(self, verdict: Verdict, wanted: Wanted) -> Sequence[Buffer] | None:
        """Do what the handlers decided. Returns what goes to the client: None for the frame as it came."""
        pieces = verdict.pieces
        if not verdict.whole:
            self.withhold(wanted.ctx, verdict.ends, verdict.how)
            return Hold(pieces or ())
        if verdict.leaving is not None:
            size = verdict.leaving.size
        else:
            size = len(wanted.frame) if pieces is None else sum(map(len, pieces))
        if size:
            self._outcomes.end(wanted.ctx, BROKER, None, size)
        else:
            self._outcomes.end(wanted.ctx, NOBODY, wanted.ctx.decided_by("Raw"))
        return pieces

    def _undecodable(self, chain: FilterChain, ctx: Context | None, error: ProtocolError) -> Hold:
        return self.withhold(ctx, self.handled.undecodable(chain, error))

    def settle(self) -> None:
        """Let out the answers that are due, and go on with held responses, as far as possible."""
        splitter = self.splitter
        while not self._stuck():
            if self._asked is not None:
                (pending, answer), self._asked = self._asked, None
                pending.answered(answer, self.handled.elements)
            if self._inflight.ours and splitter.between and not self._let_out_due():
                break
            if splitter.held is None:
                break
            self.state = State.OPEN
            self._outbox.to_client(splitter.resume())
        if self.state is not State.ENDED:
            self.pause()

    def _stuck(self) -> bool:
        problem = self.splitter.problem
        if problem is not None and self.state is not State.ENDED:
            self._counters.bad_frames += 1
            self.end(f"the broker sent what is no response: {problem}")
        if self.state is State.ENDED or self.turn.is_over or self._outbox.closed:
            return True
        return self._waiting is not None or self._departing is not None or self._held_back is not None
