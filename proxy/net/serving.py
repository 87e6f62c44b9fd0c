"""Serving: the loop over ready sides, over those that wait for their next turn, and over links with long work.

Rules:
* Nothing awaits here. After 5 ms of serving, the other tasks of the thread have their turn.
* Links with long work continue between events, a slice at a time (`turns.py`).
* When nothing is ready, the loop lingers in its own epoll, since going back to trio costs more than a request. Without
  that, 2,000 requests/s take 80 us of CPU each instead of 32. A turn that lingers may take 7 ms: the first event after
  that ends it. A timer ends it 8 ms after its first wait, or as soon as another task has slept for long enough. The
  end by an event is preferred, since that of the timer costs a wake-up (`kernel_timer.py`).
  The loop does not linger while clients connect, or while a delay begins or a thread computes for a link (a login):
  trio sees what they wait for, and this loop does not.
* Sockets are watched by `open_sockets.py`, edge-triggered. One buffer serves all links (`read_buffer.py`).
* Few sides are served at once whose peers have left: it takes 0.3 ms to end a link. When 1,500 clients were killed
  together, the others waited for 500 ms.
* A link that raises is closed and logged as a bug. No other link is affected.
"""

from __future__ import annotations

import select
from collections import OrderedDict
from collections.abc import Callable
from functools import partial

import structlog
import trio

from proxy.core.allowance import Allowance
from proxy.core.clock import Clock
from proxy.core.events import Event
from proxy.core.failure import FAILURES, AnyFailure, raised_at
from proxy.net.budget import Budget
from proxy.net.complaints import Complaints
from proxy.net.conversation import Conversation
from proxy.net.open_sockets import OpenSockets
from proxy.net.read_buffer import ReadBuffer
from proxy.net.reading import ROUND, goodbye, read
from proxy.net.resuming import Resuming
from proxy.net.shared import Shared
from proxy.net.side import Again, Side
from proxy.net.slow_turns import SlowTurns
from proxy.net.turns import Turns

log = structlog.get_logger()

BUDGET = 0.005  # seconds of serving before other tasks have their turn
LONGER = 0.002  # seconds that a turn may take longer if it lingers
LINGER = 0.008  # seconds from the first wait for events to the end by the timer
EVENTS = 85  # taken from the epoll at a time: their memory, 12 bytes each, is what the C library has at hand
GOODBYES = 8  # sides whose peers have left, between two looks at the sockets

ROOM, INCOMING = select.EPOLLOUT, select.EPOLLIN
BROKEN = select.EPOLLERR | select.EPOLLHUP
GOODBYE = select.EPOLLRDHUP | BROKEN


class ServingLoop:
    """The links of a reactor, and what they share."""

    def __init__(
        self,
        ended: Callable[[Conversation, str | None], None],
        emit: Callable[[Conversation, Event], None],
        complaints: Complaints,
        memory: int,
    ) -> None:
        self._ended = ended
        self._complaints = complaints
        self.clock = Clock()  # the time of links: set at each wake-up
        self.allowance = Allowance()  # what all links may do at a time
        self.sockets = OpenSockets()
        self.conversations = self.sockets.conversations
        self.budget = Budget(memory, self.conversations, resumed=self._nudge)
        self._buffer = ReadBuffer(self._not_delivered)
        self.turns = Turns()
        self.slow_turns = SlowTurns(complaints)
        self._resuming = Resuming(self.turns, self.clock, self._guard, self._outside)
        self._again: Again = OrderedDict()
        self._lingers_from = 0.0  # by the clock of trio
        self._hung_up: OrderedDict[Side, bool] = OrderedDict()  # their peers have left; True: the connection broke
        ways_out = emit, self._leaves, self._over
        self._shared = Shared(self._buffer, self.budget, self._resuming, self._again, *ways_out)

    def look(self, side: Side) -> None:
        """Read this side soon, because it may have more bytes for which no event comes."""
        side.readable = True
        self._again[side] = None

    def _leaves(self, conversation: Conversation) -> None:
        """Stop serving this link."""
        self.sockets.remove(conversation)
        self.budget.forget(conversation)
        self._resuming.forget(conversation)

    def _over(self, conversation: Conversation) -> None:
        """Report the end of a conversation, and free all that it holds."""
        self._guard(conversation, partial(self._ended, conversation, conversation.reason))
        self._guard(conversation, conversation.release)

    def _serve(self) -> None:
        """Serve ready links until none is ready or the budget is spent."""
        poll, owners, sides = self.sockets.epoll.poll, self.sockets.owners, self.sockets.sides
        waiting, again = self.turns.line, self._again
        clock, deliver, shared = trio.lowlevel.current_clock().current_time, self._buffer.deliver, self._shared
        resuming, hung_up, lanes, timer = self._resuming, self._hung_up, self.allowance.lanes, self.sockets.timer
        deadline = clock() + BUDGET
        lingered = False
        events = poll(0, EVENTS)
        while events or again or waiting or hung_up:
            now = self.clock.now = clock()
            lanes.begin_look()
            before = len(again)
            shared.turn = ROUND / (len(events) + before or 1)
            for fd, flags in events:
                conversation, side = owners[fd], sides[fd]
                if conversation is None or side is None:
                    if fd == timer.fd:
                        deadline = min(deadline, now)  # it has lingered for long enough
                    continue  # it is the timer or a nudge, or an earlier event closed it
                try:
                    if side.stalled and flags & ROOM:
                        conversation.flush(side)
                    if flags & GOODBYE:
                        hung_up[side] = hung_up.get(side, False) or bool(flags & BROKEN)
                    elif flags & INCOMING:
                        read(conversation, side)
                except FAILURES as error:
                    self._crash(conversation, error)
            if hung_up:
                for _ in range(min(len(hung_up), GOODBYES)):
                    self._say_goodbye(*hung_up.popitem(last=False))
            if before:
                self._serve_again(before)
            if waiting:
                self.turns.serve()
            deliver()
            if now >= deadline:
                break
            lingers = not (again or waiting or hung_up or resuming.in_hurry or now < self._lingers_from)
            if lingers and not lingered:
                time_left = min(LINGER, trio.lowlevel.current_statistics().seconds_to_next_deadline)
                lingered = lingers = time_left > 0
                if lingers:
                    deadline += LONGER
                    timer.start(time_left)
            events = poll(None if lingers else 0, EVENTS)
        if lingered:
            timer.stop()
        self.slow_turns.took(clock() - deadline)  # what blocks is in the last round, or in the one before

    def _say_goodbye(self, side: Side, broken: bool) -> None:
        """The peer of this side has left."""
        conversation = self.sockets.conversation_of(side)
        if conversation is not None:
            self._guard(conversation, partial(goodbye, conversation, side, broken))

    def _serve_again(self, count: int) -> None:
        """Read the first `count` sides that wait for their next turn."""
        for _ in range(count):
            side, _ = self._again.popitem(last=False)
            conversation = self.sockets.conversation_of(side)
            if conversation is None:
                continue  # it was closed meanwhile
            must_end = side.gone and not conversation.closing  # what it still has cannot wait until it may be read
            if side.readable and (must_end or not side.blocked):
                self._guard(conversation, partial(read, conversation, side))

    def _outside(self, conversation: Conversation, step: Callable[[], None]) -> None:
        """Run a step of a link from another task."""
        began = trio.current_time()
        self._guard(conversation, step)
        self.slow_turns.took(trio.current_time() - began)
        self._nudge()

    def _nudge(self) -> None:
        """Wake the loop if it waits for events while there is more to do."""
        if self._again or self.turns.line:
            self.sockets.nudge()

    def _guard(self, conversation: Conversation, step: Callable[[], None]) -> None:
        self.clock.now = trio.current_time()
        try:
            step()
        except FAILURES as error:
            self._crash(conversation, error)

    def _not_delivered(self, side: Side, error: AnyFailure) -> None:
        """Data posted for this side was not sent, for another reason than its socket."""
        conversation = self.sockets.conversation_of(side)
        assert conversation is not None  # a closed side accepts any data
        self._crash(conversation, error)

    def _crash(self, conversation: Conversation, error: AnyFailure) -> None:
        conversation.abort("the proxy failed; its log says where")
        facts = conversation.link.connection.facts()
        self._complaints.tell(log.error, "a link failed: a bug of the proxy", raised_at(error), exc_info=error, **facts)
