"""Lanes: the two directions of a link, and what they have in common.

Rules:
* A frame is handled by the filters and limits that were in force when it was met; others may come at any time.
* A lane has one state. While it is not OPEN, its splitter holds back the bytes that come, and its socket is not read:
  at most the rest of one chunk is kept.

      OPEN          frames are taken
      FULL          too many requests are unanswered; goes on when answers come
      OTHER_CLIENT  requests with another client id are unanswered; goes on when none is
      BEHIND        an older request may wait at the broker; goes on when that is answered
      GATED         the gate lets nothing pass; goes on when it does
      TURN          the other connections have their turn; goes on when they had it
      WAITING       a frame waits for its handlers
      ENDED         nothing more is taken
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum, auto
from struct import Struct
from typing import Any, Literal

from proxy.core.context import Context
from proxy.core.decisions import How
from proxy.core.handled import Handling
from proxy.core.limits import Limits
from proxy.core.outcome import By
from proxy.core.parts import Parts
from proxy.core.task import WAITING, Task
from proxy.core.turn import Turn
from proxy.core.verdict import Verdict
from proxy.core.wanted import Wanted
from proxy.protocol.frame import HOLD, Buffer, Hold, Reader
from proxy.protocol.problem import Fault
from proxy.protocol.slices import LARGE
from proxy.protocol.splitter import Splitter


class State(Enum):
    """Whether a lane takes frames, or why it does not."""

    OPEN = auto()
    FULL = auto()
    OTHER_CLIENT = auto()
    BEHIND = auto()
    GATED = auto()
    TURN = auto()
    WAITING = auto()
    ENDED = auto()


class Lane(ABC):
    """One direction. `reason` says why it ended, None if nothing was wrong; `how` says in what way.

    `handled`: what it does with frames that a plugin wants.
    """

    __slots__ = (
        "_allowance",
        "_connection",
        "_counted",
        "_counters",
        "_large",
        "_met",
        "_outbox",
        "_outcomes",
        "_paused",
        "_slots",
        "_tasks",
        "_waiting",
        "handled",
        "how",
        "reason",
        "splitter",
        "state",
        "turn",
    )

    whole: Literal[True] = True  # as a Reader

    may_ask: bool  # may its handlers ask the broker?

    def __init__(self, parts: Parts, head: Struct, fault: Fault, handled: Handling) -> None:
        self._connection = parts.connection
        self._slots = parts.inflight.slots
        self._outcomes = parts.outcomes
        self._counted = parts.counted
        self._tasks = parts.tasks
        self._allowance = parts.allowance
        self._counters = parts.counters
        self._outbox = parts.outbox
        self.splitter = Splitter(head, self.meet, fault, longest=parts.limits.frame)
        self.handled = handled
        self.state = State.OPEN
        self.reason: str | None = None
        self.how = How.CLOSE
        self.turn = Turn(parts.tasks, parts.allowance.lanes)
        self._met: Any = None  # what is known of the frame that is to be read: its chain, its request, was it cut?
        self._large = True  # may that frame have many elements?
        self._waiting: Wanted | None = None  # the frame that waits for its handlers
        self._paused = False

    def apply(self, limits: Limits) -> None:
        """These limits are in force, for the frames that begin from now on."""
        self.splitter.limit(limits.frame)
        self.handled.apply(limits)

    @property
    def held(self) -> int:
        """Bytes that wait in this lane."""
        waiting = self._waiting
        return self.splitter.kept + (waiting.held + waiting.ctx.held if waiting is not None else 0)

    def hold(self, state: State) -> Hold:
        """Take nothing for now. Only called where a frame begins, or when it was read."""
        if self.state is not State.ENDED:
            self.state = state
        return HOLD

    def end(self, reason: str | None, how: How = How.CLOSE) -> Hold:
        """Take nothing more. The first reason counts, and how the connection ends by it."""
        if self.state is not State.ENDED:
            self.state = State.ENDED
            self.reason, self.how = reason, how
        return HOLD

    def withhold(self, ctx: Context | None, reason: str | None, how: How = How.CLOSE) -> Hold:
        """End the conversation instead of answering this request, or instead of passing its answer on."""
        if ctx is not None:
            self._outcomes.end(ctx, By.NOBODY, reason)
        return self.end(reason, how)

    @abstractmethod
    def meet(self, head: Any, data: memoryview, pos: int) -> Reader | None:
        """A frame begins at `pos`."""

    def _handle(self, wanted: Wanted, was_cut: bool) -> Sequence[Buffer] | None:
        """Let handlers look at a frame. Returns what goes on: None for the frame as it came."""
        steps, size = self.handled.handle(wanted), len(wanted.frame)
        if wanted.ctx.is_large and wanted.ctx.held:
            size = max(size, wanted.ctx.request_bytes)  # a small response may free much memory
        if wanted.is_large or (wanted.ctx.is_large and size > LARGE):
            host, _ = self._connection.client
            steps = self._allowance.within(size, steps, host, is_response=not self.may_ask)
        try:
            step = steps.send(None)
        except StopIteration as end:  # the usual case needs no task
            return self._carry_out(end.value, wanted)
        verdict = Task(self._tasks, steps, self._decided, may_ask=self.may_ask).go_on_from(step)
        if verdict is not WAITING:
            return self._carry_out(verdict, wanted)
        if not was_cut:  # otherwise it was assembled, and is ours
            wanted.frame = memoryview(bytes(wanted.frame))
        wanted.weigh()
        self._waiting = wanted
        return self.hold(State.WAITING)

    def _decided(self, verdict: Verdict) -> None:
        """The handlers of the frame that waited are done with it."""
        wanted, self._waiting = self._waiting, None
        assert wanted is not None
        self.state = State.OPEN
        instead = self._carry_out(verdict, wanted)
        self._go_on([wanted.frame] if instead is None else instead)

    @abstractmethod
    def _carry_out(self, verdict: Verdict, wanted: Wanted) -> Sequence[Buffer] | None:
        """Do what the handlers decided. Returns what goes on: None for the frame as it came."""

    @abstractmethod
    def _go_on(self, instead: Sequence[Buffer]) -> None:
        """Send this for the frame that waited, and take the frames behind it as soon as possible."""

    def fall_silent(self) -> None:
        """Throw away what comes from now on."""
        self.state, self._waiting = State.ENDED, None
        self.splitter.close()
        self.splitter.begun = True  # nobody waits for its first frame
        self.pause()

    def pause(self) -> None:
        """Have this side paused while bytes are held back, and read again afterwards."""
        held = self.splitter.held is not None
        if held is not self._paused:
            self._paused = held
            self._read(not held)

    @abstractmethod
    def _read(self, on: bool) -> None:
        """Read from this side, or read nothing from it for now."""
