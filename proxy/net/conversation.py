"""Conversation: a link and its two sockets. Carries out what the link wants, until both sockets are closed.

Rules:
* What goes to one socket leaves together. Nothing waits: whoever could not go on gets an event when it can.
* What a link wanted sent before its end is sent, even to a slow socket; then both sockets are closed.
* It is over once, whatever ends it, and told of once. That may be in the middle of commands: sending is what finds out
  that a socket is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import trio

from proxy.core.commands import (
    Await,
    Close,
    Command,
    Emit,
    HalfClose,
    PauseBroker,
    PauseClient,
    Perform,
    ResumeBroker,
    ResumeClient,
    ToBroker,
    ToClient,
    Wake,
)
from proxy.core.events import Event
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.net.budget import Budget
from proxy.net.outgoing import AnySocket
from proxy.net.pipes import Pipes
from proxy.net.read_buffer import ReadBuffer
from proxy.net.resuming import Resuming
from proxy.net.side import Again, Side
from proxy.net.side_pair import SidePair


@dataclass
class Shared:
    """What all conversations of a reactor share. `again`: sides that have more to read, and will get no event for it.

    `emit` is told of events, `leaves` of a conversation that is over, `over` once its sockets are closed, too.
    `turn`: seconds for which one side may be read, after its first read.
    """

    buffer: ReadBuffer
    pipes: Pipes
    budget: Budget
    resuming: Resuming
    again: Again
    emit: Callable[[Conversation, Event], None]
    leaves: Callable[[Conversation], None]
    over: Callable[[Conversation], None]
    turn: float = 0.0


class Conversation(SidePair):
    """One link, its client and its broker. `active` is when bytes were last seen to have moved; times are trio's."""

    __slots__ = (
        "__weakref__",
        "active",
        "buffer",
        "closing",
        "is_fault",
        "is_over",
        "link",
        "opened",
        "reason",
        "seen",
        "shared",
    )

    def __init__(self, shared: Shared, client: AnySocket, broker: AnySocket, link: Link) -> None:
        self.shared = shared
        self.buffer = shared.buffer
        self.link = link
        super().__init__(
            Side(client, link.requests.splitter, link.receive_client, self.lost, shared.again),
            Side(broker, link.responses.splitter, link.receive_broker, self.lost, shared.again),
        )
        self.is_over = False
        self.closing = False
        self.reason: str | None = None
        self.is_fault = True  # is something wrong where it ended for a reason?
        self.opened = self.active = trio.current_time()
        self.seen = 0  # `moved` as of `active`

    @property
    def held(self) -> int:
        """Bytes of it that take memory."""
        return self.link.held + self.client.held + self.broker.held

    def let_go(self) -> None:
        """Forget what can be had again."""
        self.link.connection.let_go()

    # What becomes of its sockets.

    def ended(self, side: Side) -> None:
        """The other end sent its last byte."""
        side.readable = False
        side.block()
        self.carry_out(self.link.client_closed() if side.is_client else self.link.broker_closed())

    def lost(self, side: Side, error: OSError) -> None:
        """A socket broke. What was on its way to it, or from it, is gone."""
        self.abort(None if side.is_client else f"the connection to the broker broke: {error.strerror or error}")

    # Sending.

    def carry_out(self, commands: Sequence[Command]) -> None:
        """Do what the link wants. What goes to one socket leaves together."""
        self.buffer.deliver()
        for side, kind in ((self.broker, ToBroker), (self.client, ToClient)):
            pieces = [command.data for command in commands if isinstance(command, kind)]
            if pieces:
                side.send_all(pieces)
        for command in commands:
            if not isinstance(command, ToBroker | ToClient):
                self._do(command)

    def _do(self, command: Command) -> None:
        if isinstance(command, Close):
            if command.reset and not self.is_over:
                self.client.reset()
            self.close(command.reason)
        elif isinstance(command, HalfClose):
            if not self.is_over:
                self.client.finish()
        elif isinstance(command, Await):
            command.signal.on_release(self, partial(self.shared.resuming.released, command.token))
        elif isinstance(command, Wake):
            self.shared.resuming.wake_later(self, command.token, command.seconds)
        elif isinstance(command, Perform):
            self.shared.resuming.perform(self, command.token, command.work)
        elif isinstance(command, Emit):
            self.shared.emit(self, command.event)
        elif isinstance(command, PauseClient | PauseBroker):
            (self.client if isinstance(command, PauseClient) else self.broker).block()
        elif isinstance(command, ResumeClient | ResumeBroker):
            (self.client if isinstance(command, ResumeClient) else self.broker).unblock()

    def flush(self, side: Side) -> None:
        """A socket takes bytes again."""
        side.flush()
        if self.closing:
            self._finish()

    # Ending.

    def close(self, reason: str | None) -> None:
        """End it, once everything that was to be sent is sent."""
        if self.closing:
            return
        self.closing = True
        self.reason = reason
        self.client.block()  # for good
        self.broker.block()
        self._finish()

    def _finish(self) -> None:
        if not self.client.stalled and not self.broker.stalled:
            self.abort()

    def apply(self, filters: Filters, limits: Limits) -> None:
        """Other filters and limits are in force."""
        if not self.closing:
            self.carry_out(self.link.apply(filters, limits))

    def drain(self) -> None:
        """Read no further requests; end when all is answered."""
        if not self.closing:
            self.ended(self.client)

    def abort(self, reason: str | None = None, *, is_fault: bool = True) -> None:
        """End it now, whatever was still to be sent."""
        if self.is_over:
            return
        self.is_over = self.closing = True
        if self.reason is None:
            self.reason, self.is_fault = reason, is_fault
        self.shared.leaves(self)
        self.client.close()
        self.broker.close()
        self.shared.over(self)

    def release(self) -> None:
        """It is over: free all that it holds."""
        for command in self.link.release(self.reason, self.client.received, self.broker.received):
            if isinstance(command, Emit):
                self.shared.emit(self, command.event)
