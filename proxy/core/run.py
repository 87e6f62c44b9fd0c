"""Runs: a pipeline on its way, carried from one step to the next.

Rules:
* A run is advanced by whoever brings what it waits for: `wake()` after a Sleep or a turn of the others, `performed()`
  after a Call, the broker's answer after an Ask. A large answer is read in slices first.
* It ends exactly once, with a decision or with the error that ended it; a link that closes drops it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple

from proxy.core.commands import Perform, Wake
from proxy.core.decisions import Alone, Ask, Call, Decision, Step
from proxy.core.failure import detached
from proxy.core.pipeline import HandlerError
from proxy.protocol.frame import Buffer
from proxy.protocol.problem import Fault, ProtocolError
from proxy.protocol.slices import Sliced

if TYPE_CHECKING:
    from proxy.core.link import Link


class Written(NamedTuple):
    """What became of a large frame, and the frame that leaves for it, in pieces."""

    outcome: Decision | HandlerError
    frame: list[Buffer]


Outcome = Decision | HandlerError | ProtocolError | Written
WAITING: Any = object()


class Run:
    """One pipeline of one frame. `done` gets the outcome if it did not come at once."""

    __slots__ = ("_done", "_link", "_reading", "_steps", "may_ask")

    def __init__(
        self, link: Link, steps: Generator[Step, Any, Outcome], done: Callable[[Outcome], None], *, may_ask: bool
    ) -> None:
        self._link = link
        self._steps = steps
        self._done = done
        self._reading: Sliced[Any] | None = None  # the answer to its question
        self.may_ask = may_ask

    def start(self) -> Outcome:
        """Advance to the first step: the outcome, or WAITING."""
        return self._advance(self._steps.send, None)

    def go_on(self, value: Any) -> None:
        """What the last step waited for is there."""
        if self._reading is not None:
            self.read(self._reading)
        else:
            self._finish(self._advance(self._steps.send, value))

    def read(self, answer: Sliced[Any]) -> None:
        """What the last step waited for is there, and has to be read. It raises ProtocolError where that fails."""
        self._reading = answer
        try:
            next(answer)
        except StopIteration as end:
            self._reading = None
            self.go_on(end.value)
        except ProtocolError as error:
            self._reading = None
            self.fail(detached(error))
        else:
            self._let_others()

    def _let_others(self) -> None:
        """Go on when the other connections had their turn."""
        self._link.commands.append(Wake(self._link.token(self), 0))

    def fail(self, error: Exception) -> None:
        """What the last step waited for will not come."""
        self._finish(self._advance(self._steps.throw, error))

    def drop(self) -> None:
        """The link is closed."""
        self._reading = None
        self._steps.close()

    def _finish(self, outcome: Outcome) -> None:
        if outcome is not WAITING:
            self._done(outcome)

    def _advance(self, resume: Callable[[Any], Step], value: Any) -> Outcome:
        try:
            step = resume(value)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        except HandlerError as error:
            return detached(error)
        if step is None:
            self._let_others()
        elif isinstance(step, Ask):
            try:
                self._link.ask(self, step)
            except (ProtocolError, TypeError) as error:
                return self._advance(self._steps.throw, error)
        elif isinstance(step, Alone):
            if self._link.gate.alone(self):
                return self._advance(self._steps.send, None)
        elif isinstance(step, Call):
            self._link.commands.append(Perform(self._link.token(self), step.work))
        else:
            self._link.commands.append(Wake(self._link.token(self), step.seconds))
        waiting: Outcome = WAITING
        return waiting


class Question:
    """A slot's mark: the broker's answer is for one of our handlers, never for the client."""

    __slots__ = ("ask", "run", "version")

    response = True  # somebody wants it: `Responses` looks at this of every slot

    def __init__(self, run: Run, ask: Ask, version: int) -> None:
        self.run = run
        self.ask = ask
        self.version = version


def newest_common(ask: Ask, spoken: tuple[int, int] | None) -> int:
    """The version in which to ask: the newest that both sides know, where the broker said what it knows."""
    if ask.version is not None:
        return ask.version
    api = ask.request.api
    if spoken is None:
        return api.newest
    low, high = spoken
    if low > api.newest:
        raise ProtocolError(f"the broker speaks only versions from {low} on", fault=Fault.BROKER, api=api.name)
    return min(api.newest, high)
