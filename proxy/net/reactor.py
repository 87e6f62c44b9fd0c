"""Reactor: serves every link of a worker, in one trio task, in a plain loop over a private epoll.

A task per connection and direction costs 10 to 20 us of trio's scheduler on every wake-up. That is twice the time to
read, examine and forward a small request. Measured, such tasks reach 0.33 of a direct connection, and this loop 0.73.
So trio sees one file descriptor, the epoll's. Everything that awaits (dialling, timers, discovery, drain) runs in other
tasks.

Rules:
* Nothing awaits while links are served, so other tasks of the same thread may call `adopt()`, `close()` and the like.
* After 5 ms of serving, the other tasks have their turn.
* Links with long work continue between events, a slice at a time (`turns.py`).
* While traffic is dense the loop lingers 1 ms in its own epoll, since going back to trio costs more than a request.
  Without that, 2,000 requests/s take 80 us of CPU each instead of 58. Lingering longer gains nothing.
  It does not linger while clients connect, or while a thread computes for one (a login): trio sees what they wait for,
  and this loop does not.
* Sockets are watched by `open_sockets.py`, edge-triggered. One buffer serves all links (`read_buffer.py`).
* Few sides are served at once whose peers have left: it takes 0.3 ms to end a link. When 1,500 clients were killed
  together, the others waited for 500 ms.
* A link that raises is closed and logged as a bug. No other link is affected.
"""

from __future__ import annotations

import select
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial

import structlog
import trio

from proxy.core.allowance import Allowance
from proxy.core.clock import Clock
from proxy.core.events import Event
from proxy.core.failure import raised_at
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.net.budget import Budget
from proxy.net.complaints import Complaints
from proxy.net.conversation import Conversation, Shared
from proxy.net.machine import begin_to_serve
from proxy.net.open_sockets import OpenSockets
from proxy.net.outgoing import AnySocket
from proxy.net.read_buffer import ReadBuffer
from proxy.net.reading import ROUND, goodbye, read
from proxy.net.resuming import Resuming
from proxy.net.side import Again, Side
from proxy.net.turns import Turns

log = structlog.get_logger()

BUDGET = 0.005  # seconds of serving before other tasks have their turn
LINGER = 0.001  # seconds; epoll's own resolution
COMING_IN = 0.005  # seconds after a client was accepted; the handshake of one nearby is over by then
EVENTS = 256  # taken from the epoll at a time
GOODBYES = 8  # sides whose peers have left, between two looks at the sockets

ROOM, INCOMING = select.EPOLLOUT, select.EPOLLIN
BROKEN = select.EPOLLERR | select.EPOLLHUP
GOODBYE = select.EPOLLRDHUP | BROKEN


class Reactor:
    """Serves links. `ended` is called once for each, with a reason if something was wrong. `emit` is called with its
    events.

    `memory`: bytes that all links together may hold.
    """

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
        self._resuming = Resuming(self.turns, self.clock, self._guard, self._outside)
        self._again: Again = OrderedDict()
        self._lingers_from = 0.0  # by the clock of trio
        self._hung_up: OrderedDict[Side, bool] = OrderedDict()  # their peers have left; True: the connection broke
        ways_out = emit, self._leaves, self._over
        self._shared = Shared(self._buffer, self.budget, self._resuming, self._again, *ways_out, self.look)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled. Then all links are closed."""
        begin_to_serve()
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(self._resuming.run)
                task_status.started()
                while True:
                    if self._again or self.turns.line or self._hung_up:
                        await trio.lowlevel.checkpoint()
                    else:
                        await trio.lowlevel.wait_readable(self.sockets.epoll.fileno())
                    self._serve()
        finally:
            for conversation in list(self.conversations):
                conversation.abort()
            self.sockets.close()

    def adopt(self, client: AnySocket, broker: AnySocket, link: Link) -> Conversation:
        """Take over two connected sockets. The reactor closes them in the end."""
        conversation = Conversation(self._shared, client, broker, link)
        self.sockets.add(conversation)
        return conversation

    def expect(self) -> None:
        """A client was accepted: its handshake gives other tasks something to do very soon."""
        self._lingers_from = trio.current_time() + COMING_IN

    def look(self, side: Side) -> None:
        """Read this side soon, because it may have more bytes for which no event comes."""
        side.readable = True
        self._again[side] = None
        self._nudge()

    def end(self, conversation: Conversation, reason: str) -> None:
        """Close both sockets now."""
        conversation.abort(reason)

    def drain(self, conversations: Iterable[Conversation]) -> None:
        """Read no further requests on these. Each closes when all its requests are answered."""
        for conversation in tuple(conversations):
            self._outside(conversation, conversation.drain)

    def apply(self, conversation: Conversation, filters: Filters, limits: Limits) -> None:
        """Put other filters and limits in force on this conversation."""
        self._outside(conversation, partial(conversation.apply, filters, limits))

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
        resuming, hung_up, lanes = self._resuming, self._hung_up, self.allowance.lanes
        deadline = clock() + BUDGET
        events = poll(0, EVENTS)
        while events or again or waiting or hung_up:
            now = self.clock.now = clock()
            lanes.begin_look()
            before = len(again)
            shared.turn = ROUND / (len(events) + before or 1)
            for fd, flags in events:
                conversation, side = owners[fd], sides[fd]
                if conversation is None or side is None:
                    continue  # an earlier event closed it
                try:
                    if side.stalled and flags & ROOM:
                        conversation.flush(side)
                    if flags & GOODBYE:
                        hung_up[side] = hung_up.get(side, False) or bool(flags & BROKEN)
                    elif flags & INCOMING:
                        read(conversation, side)
                except Exception as error:
                    self._crash(conversation, error)
            if hung_up:
                for _ in range(min(len(hung_up), GOODBYES)):
                    self._say_goodbye(*hung_up.popitem(last=False))
            if before:
                self._serve_again(before)
            if waiting:
                self.turns.serve()
            deliver()
            if now > deadline:
                return
            lingers = not (again or waiting or hung_up or resuming.computing or now < self._lingers_from)
            events = poll(LINGER if lingers else 0, EVENTS)

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
        self._guard(conversation, step)
        self._nudge()

    def _nudge(self) -> None:
        """Wake the loop if it waits for events while there is more to do."""
        if self._again or self.turns.line:
            self.sockets.nudge()

    def _guard(self, conversation: Conversation, step: Callable[[], None]) -> None:
        self.clock.now = trio.current_time()
        try:
            step()
        except Exception as error:
            self._crash(conversation, error)

    def _not_delivered(self, side: Side, error: Exception) -> None:
        """Data posted for this side was not sent, for another reason than its socket."""
        conversation = self.sockets.conversation_of(side)
        assert conversation is not None  # a closed side accepts any data
        self._crash(conversation, error)

    def _crash(self, conversation: Conversation, error: Exception) -> None:
        conversation.abort("the proxy failed; its log says where")
        facts = conversation.link.connection.facts()
        self._complaints.tell(log.error, "a link failed: a bug of the proxy", raised_at(error), exc_info=error, **facts)
