"""Answer lane: how answers leave for the client, in order, and some of them only after steps.

Rules:
* An answer of ours leaves when all older ones have left. If a handler has it drip, or a plugin takes steps before it
  leaves (`@before_answer`), nothing else leaves until it has left.
* The same steps are taken before a response of the broker that passes. Until then nothing of it leaves, and only the
  chunk in which it began is kept. The broker is not read meanwhile.
* If such a step fails, the answer does not leave: the link closes.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from proxy.core.context import Context
from proxy.core.decisions import Step, Steps
from proxy.core.handled_responses import HandledResponses
from proxy.core.inflight import Answer, Slot
from proxy.core.lane import Lane, State
from proxy.core.leaving import Leaving
from proxy.core.outcome import By
from proxy.core.parts import Parts
from proxy.core.steps import HandlerError, caught
from proxy.core.task import WAITING, Task
from proxy.protocol.frame import RESPONSE_HEAD, Buffer
from proxy.protocol.problem import Fault


class AnswerLane(Lane):
    """The lane of the answers: `ResponseLane` adds to it how the broker's responses leave."""

    __slots__ = ("_departing", "_held_back", "_inflight", "_let_go")

    may_ask = False

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts, RESPONSE_HEAD, Fault.BROKER, HandledResponses(parts))
        self._inflight = parts.inflight
        self._departing: Answer | None = None  # an answer of ours that takes steps to leave
        self._held_back: Context | None = None  # the request of a passing response that waits for steps
        self._let_go: Context | None = None  # the same, once the steps are taken

    @property
    def idle(self) -> bool:
        """May an answer of ours leave without cutting into another?"""
        return self.splitter.between and self.splitter.held is None

    @property
    def held(self) -> int:
        """Bytes that wait in this lane."""
        return super().held + (self._departing.size if self._departing is not None else 0)

    def fall_silent(self) -> None:
        """Throw away what comes from now on."""
        super().fall_silent()
        self._departing = self._held_back = None

    def _read(self, on: bool) -> None:
        self._outbox.read_broker(on)

    def answer(self, answer: Answer) -> None:
        """An answer of ours to the youngest request: it leaves when all older ones have."""
        if self._slots or not self.idle:
            self._inflight.answer(answer)
        else:
            self._let_out(answer)

    def _let_out(self, answer: Answer) -> None:
        """Nothing holds up this answer of ours any more: it leaves, at once or after its steps."""
        before = None
        if answer.ctx is not None:
            before = self._outcomes.before(answer.ctx, answer.by, answer.why, answer.size)
        if before is None and answer.leaving is None:
            self._leave(answer, answer.pieces)
            return
        self._departing = answer
        steps = caught(self._departure(before, answer.leaving))
        result = Task(self._tasks, steps, self._depart, may_ask=False).start()
        if result is not WAITING:
            self._depart(result)
            return
        self.splitter.hold()
        self.hold(State.WAITING)
        self.pause()

    def _departure(self, before: Generator[Step, Any, None] | None, leaving: Leaving | None) -> Steps:
        if before is not None:
            yield from before
        if leaving is not None:
            yield from leaving.steps(self._outbox.to_client)
        return None

    def _depart(self, result: object) -> None:
        """The steps of an answer of ours have ended."""
        answer, self._departing = self._departing, None
        assert answer is not None
        if isinstance(result, HandlerError):
            assert answer.ctx is not None
            self.withhold(answer.ctx, self.handled.failed(answer.ctx, result))
        elif self.state is not State.ENDED:
            self.state = State.OPEN  # `settle` goes on with the frames behind it
            self._leave(answer, answer.pieces if answer.leaving is None else [answer.leaving.data])

    def _leave(self, answer: Answer, pieces: Sequence[Buffer]) -> None:
        self._outbox.to_client(pieces)
        if answer.ctx is not None:
            self._outcomes.end(answer.ctx, answer.by, answer.why, answer.size)

    def _let_out_due(self) -> bool:
        """Let out the answers that no older request holds up any more. False: an answer waits for its steps."""
        while self._departing is None and (answer := self._inflight.due()) is not None:
            self._let_out(answer)
        return self._departing is None

    def _holds_back(self, slot: Slot, size: int) -> bool:
        """Does this passing response wait for a plugin's steps? Then nothing of it has left."""
        ctx: Context = slot[2]
        if ctx is self._let_go:
            self._let_go = None
            return False
        steps = self._outcomes.before(ctx, By.BROKER, None, size)
        if steps is None:
            return False
        result = Task(self._tasks, caught(steps), self._go_past, may_ask=False).start()
        if result is WAITING:
            self._slots.appendleft(slot)
            self._held_back = ctx
            self.hold(State.WAITING)
            return True
        if isinstance(result, HandlerError):
            self.withhold(ctx, self.handled.failed(ctx, result))
            return True
        return False

    def _go_past(self, result: object) -> None:
        """The steps before a passing response have ended: `settle` goes on with it."""
        ctx, self._held_back = self._held_back, None
        assert ctx is not None
        if isinstance(result, HandlerError):
            self.withhold(ctx, self.handled.failed(ctx, result))
        elif self.state is not State.ENDED:
            self.state, self._let_go = State.OPEN, ctx
