"""Lanes: the two directions of a link, and what each can say of itself.

Rules:
* A lane has one state. While it is not OPEN its splitter holds back what comes, and its side is not read: at most the
  rest of one chunk is kept.

      OPEN      frames are taken
      FULL      too many requests are unanswered; goes on when answers come
      GATED     the gate lets nothing pass; goes on when it does
      TURN      the other connections have their turn; goes on when they had it
      WAITING   a frame waits for its handlers
      ENDED     nothing more is taken
"""

from __future__ import annotations

from enum import Enum, auto
from struct import Struct

from proxy.core.commands import PauseBroker, PauseClient, ResumeBroker, ResumeClient
from proxy.core.decisions import How
from proxy.core.outbox import Outbox
from proxy.core.task import WaitingTasks
from proxy.core.turn import Turn
from proxy.protocol.frame import HOLD, Hold, Meet, Splitter
from proxy.protocol.problem import Fault


class State(Enum):
    """Whether a lane takes frames, and what keeps it from it."""

    OPEN = auto()
    FULL = auto()
    GATED = auto()
    TURN = auto()
    WAITING = auto()
    ENDED = auto()


class Lane:
    """One direction. `reason` says why it ended, None where nothing was wrong; `how` in what way it does."""

    pauses: type[PauseClient] | type[PauseBroker]
    resumes: type[ResumeClient] | type[ResumeBroker]
    whole, blind = True, 0  # as a Reader

    def __init__(
        self, tasks: WaitingTasks, outbox: Outbox, head: Struct, meet: Meet, fault: Fault, longest: int
    ) -> None:
        self._outbox = outbox
        self.splitter = Splitter(head, meet, fault, longest=longest)
        self.feed = self.splitter.feed
        self.state = State.OPEN
        self.reason: str | None = None
        self.how = How.CLOSE
        self.turn = Turn(tasks, outbox)
        self._paused = False

    def hold(self, state: State) -> Hold:
        """Take nothing for now. Only where a frame begins, or was read."""
        if self.state is not State.ENDED:
            self.state = state
        return HOLD

    def end(self, reason: str | None, how: How = How.CLOSE) -> Hold:
        """Take nothing more. The first reason counts, and how the connection ends by it."""
        if self.state is not State.ENDED:
            self.state = State.ENDED
            self.reason, self.how = reason, how
        return HOLD

    def pause(self) -> None:
        """Have the side read again, or not, by whether anything is held back."""
        held = self.splitter.held is not None
        if held is not self._paused:
            self._paused = held
            self._outbox.say(self.pauses() if held else self.resumes())
