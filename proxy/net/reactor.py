"""Reactor: every link of a worker, served by one trio task in a plain loop over a private epoll.

A task per connection and direction spends 10 to 20 us of trio's scheduler on every wake-up, twice what it takes to read
a small request, look at it and send it on: measured 0.33 of a direct connection where this loop reaches 0.73. So trio
sees one file descriptor, the epoll's, and what is awaited (dialling, timers, discovery, drain) lives in other tasks.

Rules:
* Nothing awaits while links are served, so other tasks of the same thread may call `adopt()`, `close()` and the like.
* After 5 ms of serving, the other tasks have their turn.
* Links in the middle of long work go on between events, a slice at a time (`turns.py`).
* While traffic is dense the loop lingers 1 ms in its own epoll: going back to trio costs more than a request.
* Sockets are registered once, edge-triggered. One buffer serves all links; it starts off a page's beginning, since
  copying from a page-aligned source to a destination a few bytes off is 15 times slower on some processors.
* A link that raises is closed, loudly, and no other is touched.
"""

from __future__ import annotations

import gc
import os
import select
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import structlog
import trio

from proxy.core.clock import Clock
from proxy.core.events import Event
from proxy.core.failure import detached, raised_at
from proxy.core.link import Link
from proxy.net.budget import Budget
from proxy.net.complaints import Complaints
from proxy.net.conversation import Conversation
from proxy.net.pipes import Pipes
from proxy.net.side import BUFFER, AnySocket, Side
from proxy.net.turns import Turns
from proxy.protocol.frame import Buffer

log = structlog.get_logger()

BUDGET = 0.005  # seconds of serving before the other tasks have their turn
LINGER = 0.001  # seconds; epoll's own resolution
GARBAGE = 20_000  # objects before the collector looks for cycles, of which serving makes none
EVENTS = 256  # taken from the epoll at a time
PAGE = 4096
ODD = 2048 + 16

ROOM = select.EPOLLOUT
EDGES = select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET
BROKEN = select.EPOLLERR | select.EPOLLHUP
INCOMING = select.EPOLLIN
GOODBYE = select.EPOLLRDHUP | BROKEN


class Reactor:
    """Serves links. `ended` is called once for each, with a reason where something was wrong; `emit`: its events.

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
        self.emit = emit
        self.clock = Clock()  # for links: set at each wake-up
        self._epoll = select.epoll()
        self._sides: dict[int, Side] = {}
        self._nursery: trio.Nursery | None = None
        self.memory = bytearray(2 * BUFFER + 2 * PAGE)  # what is read lies here, and is lent to links
        lent = memoryview(self.memory)
        start = -_address(lent) % PAGE + ODD
        self._buffer = lent[start : start + 2 * BUFFER]
        self.room = self._buffer  # where the next read goes; what lies before it was posted
        self.posted: list[tuple[Side, Buffer]] = []
        self.conversations: set[Conversation] = set()
        self.budget = Budget(memory, self.conversations)
        self.again: deque[Side] = deque()  # have more to read, and will get no event for it
        self.turns = Turns()
        self._nudge = os.eventfd(0, os.EFD_NONBLOCK)
        self._epoll.register(self._nudge, select.EPOLLIN | select.EPOLLET)
        self.pipes = Pipes()
        self._sleeping: dict[Conversation, set[trio.CancelScope]] = {}
        self._received = [0, 0]  # bytes from brokers and from clients, of links that are over

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled; then every link is closed."""
        gc.collect()
        gc.freeze()  # what start-up made stays: the collector need not walk it again and again
        gc.set_threshold(GARBAGE, 4, 1000)
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                task_status.started()
                while True:
                    if self.again or self.turns.line:
                        await trio.lowlevel.checkpoint()
                    else:
                        await trio.lowlevel.wait_readable(self._epoll.fileno())
                    self._serve()
        finally:
            for conversation in list(self.conversations):
                conversation.abort()
            self.pipes.close()
            self._epoll.close()
            os.close(self._nudge)

    def adopt(self, client: AnySocket, broker: AnySocket, link: Link, early: bytes = b"") -> Conversation:
        """Take over two connected sockets, and what was already read from the client. Closes them in the end."""
        conversation = Conversation(self, client, broker, link)
        sides = conversation.client, conversation.broker
        for side in sides:
            self._epoll.register(side.fd, EDGES)  # fails where the system has no room for more: then nothing was added
        self.conversations.add(conversation)
        self._sides |= {side.fd: side for side in sides}
        if early:
            self._outside(conversation, lambda: conversation.receive(conversation.client, memoryview(bytearray(early))))
        return conversation

    def look(self, side: Side) -> None:
        """Read this side soon: there may be more than an event will tell of."""
        side.readable = True
        self.again.append(side)

    def end(self, conversation: Conversation, reason: str) -> None:
        """Close both sockets now."""
        conversation.abort(reason)

    def drain(self) -> None:
        """Read no further requests on any link; each closes when all is answered."""
        for conversation in list(self.conversations):
            self._outside(conversation, conversation.drain)

    @property
    def bytes_from_clients(self) -> int:
        """Since the start."""
        return self._received[True] + sum(each.client.received for each in self.conversations)

    @property
    def bytes_from_brokers(self) -> int:
        """Since the start."""
        return self._received[False] + sum(each.broker.received for each in self.conversations)

    # What conversations say.

    def post(self, side: Side, data: Buffer, count: int) -> None:
        """Send this soon, with what the other links have to send: `count` bytes of the buffer stay as they are."""
        self.posted.append((side, data))
        self.room = self.room[count:]
        if len(self.room) < BUFFER:
            self.deliver()

    def deliver(self) -> None:
        """Send what was posted."""
        if not self.posted:
            return
        posted, self.posted, self.room = self.posted, [], self._buffer
        for side, data in posted:
            try:
                side.send(data)
            except Exception as error:  # of this side alone: whoever has this delivered is another
                self._crash(side.conversation, error)

    def wake_later(self, conversation: Conversation, token: int, seconds: float) -> None:
        """Wake this link after a while, or (0) when the others had their turn, if it is still there."""
        if not seconds:
            self.turns.wait(partial(self._go_on, conversation, token))
            return
        assert self._nursery is not None, "the reactor is not running"
        if conversation in self.conversations:
            scope = trio.CancelScope()
            self._sleeping.setdefault(conversation, set()).add(scope)
            self._nursery.start_soon(self._wake, conversation, token, seconds, scope)

    def released(self, token: int, conversation: Conversation) -> None:
        """A signal that this link waits for was released."""
        self._outside(conversation, partial(self.wake_later, conversation, token, 0))

    def _go_on(self, conversation: Conversation, token: int) -> None:
        """The others had their turn."""
        if conversation in self.conversations and not conversation.closing:
            self._guard(conversation, lambda: conversation.carry_out(conversation.link.wake(token)))

    async def _wake(self, conversation: Conversation, token: int, seconds: float, scope: trio.CancelScope) -> None:
        with scope:
            await trio.sleep(seconds)
        if conversation not in self.conversations:
            return
        self._sleeping[conversation].discard(scope)
        if not conversation.closing:
            self._outside(conversation, lambda: conversation.carry_out(conversation.link.wake(token)))

    def perform(self, conversation: Conversation, token: int, work: Callable[[], Any]) -> None:
        """Call this in a thread, for this link."""
        assert self._nursery is not None, "the reactor is not running"
        self._nursery.start_soon(self._perform, conversation, token, work)

    async def _perform(self, conversation: Conversation, token: int, work: Callable[[], Any]) -> None:
        try:
            value = await trio.to_thread.run_sync(work)
        except Exception as error:
            self._performed(conversation, token, None, detached(error))
        else:
            self._performed(conversation, token, value, None)

    def _performed(self, conversation: Conversation, token: int, value: Any, error: Exception | None) -> None:
        if conversation in self.conversations and not conversation.closing:
            link = conversation.link
            self._outside(conversation, lambda: conversation.carry_out(link.performed(token, value, error)))

    def forget(self, conversation: Conversation) -> bool:
        """Serve this link no more. False: that was so already."""
        if conversation not in self.conversations:
            return False
        self.conversations.remove(conversation)
        self.budget.forget(conversation)
        for scope in self._sleeping.pop(conversation, ()):
            scope.cancel()  # what sleeps for days must not outlive it
        for side in (conversation.client, conversation.broker):
            self._received[side.is_client] += side.received
            self._epoll.unregister(side.fd)
            del self._sides[side.fd]
        return True

    def ended(self, conversation: Conversation) -> None:
        """A link is over: it is told of, and then freed, with all that it holds."""
        self._guard(conversation, partial(self._ended, conversation, conversation.reason))
        self._guard(conversation, partial(conversation.link.release, conversation.reason))

    # The loop.

    def _serve(self) -> None:
        """Serve whoever is ready, until nobody is or the budget is spent."""
        poll, sides, clock, waiting = self._epoll.poll, self._sides, trio.current_time, self.turns.line
        deadline = clock() + BUDGET
        events = poll(0, EVENTS)
        while events or self.again or waiting:
            now = self.clock.now = clock()
            for fd, flags in events:
                side = sides.get(fd)
                if side is None:
                    continue  # closed by an event before this one
                conversation = side.conversation
                try:
                    if side.stalled and flags & ROOM:
                        conversation.flush(side)
                    if flags & GOODBYE:
                        conversation.goodbye(side, bool(flags & BROKEN))
                    elif flags & INCOMING:
                        conversation.read(side)
                except Exception as error:
                    self._crash(conversation, error)
            if self.again:
                self._serve_again()
            if waiting:
                self.turns.serve()
            self.deliver()
            if now > deadline:
                return
            events = poll(0 if self.again or waiting else LINGER, EVENTS)

    def _serve_again(self) -> None:
        """Those at the end of the line."""
        for _ in range(len(self.again)):
            side = self.again.popleft()
            if side.fd in self._sides and side.readable and not side.blocked:
                self._guard(side.conversation, partial(side.conversation.read, side))

    def _outside(self, conversation: Conversation, step: Callable[[], None]) -> None:
        """Take a step of a link from another task. The loop may wait for events: it learns that there is more to do."""
        self._guard(conversation, step)
        if self.again or self.turns.line:
            os.eventfd_write(self._nudge, 1)

    def _guard(self, conversation: Conversation, step: Callable[[], None]) -> None:
        self.clock.now = trio.current_time()
        try:
            step()
        except Exception as error:
            self._crash(conversation, error)

    def _crash(self, conversation: Conversation, error: Exception) -> None:
        conversation.abort("the proxy failed; its log says where")
        facts = conversation.link.connection.facts()
        self._complaints.tell(log.error, "a link failed: a bug of the proxy", raised_at(error), exc_info=error, **facts)


def _address(memory: memoryview) -> int:
    """Where these bytes lie."""
    import ctypes

    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
