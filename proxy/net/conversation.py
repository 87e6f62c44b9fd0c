"""Conversation: a link and its two sockets. It carries out the link's commands until both sockets are closed.

Rules:
* All bytes for one socket are sent together. Nothing waits: a socket that could not make progress gets an event when it
  can.
* Bytes that a link wanted to send before its end are sent, even to a slow socket. Then both sockets are closed.
* A conversation ends once, whatever ends it, and its end is reported once. It may end in the middle of commands, since
  only sending shows that a socket is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.net.outgoing import AnySocket
from proxy.net.shared import Shared
from proxy.net.side import Side
from proxy.net.side_pair import SidePair
from proxy.net.tls.sayings import BarrenError


class Conversation(SidePair):
    """One link, its client and its broker. `active`: when bytes were last seen to have moved. Times are trio's."""

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

    def __init__(self, shared: Shared[Conversation], client: AnySocket, broker: AnySocket, link: Link) -> None:
        self.shared = shared
        self.buffer = shared.buffer
        self.link = link
        super().__init__(
            Side(client, link.requests.splitter, self.lost, shared.again),
            Side(broker, link.responses.splitter, self.lost, shared.again),
        )
        self.is_over = False
        self.closing = False
        self.reason: str | None = None
        self.is_fault = True  # is the reason for its end, if it has one, a fault?
        self.opened = self.active = trio.current_time()
        self.seen = 0  # the value of `moved` at `active`

    @property
    def held(self) -> int:
        """Bytes of memory that it holds."""
        return self.link.held + self.client.held + self.broker.held

    def let_go(self) -> None:
        """Drop what can be obtained again."""
        self.link.connection.let_go()

    # Its sockets.

    def ended(self, side: Side) -> None:
        """The peer of this side sent its last byte."""
        side.readable = False
        side.block()
        self.carry_out(self.link.client_closed() if side.is_client else self.link.broker_closed())

    def lost(self, side: Side, error: OSError) -> None:
        """A socket broke. Bytes on their way to it or from it are lost."""
        if side.is_client:
            self.abort(str(error) if isinstance(error, BarrenError) else None)
        else:
            self.abort(f"the connection to the broker broke: {error.strerror or error}")

    # Sending.

    def carry_out(self, commands: Sequence[Command]) -> None:
        """Carry out the link's commands. All bytes for one socket are sent together."""
        self.buffer.deliver()
        to_broker = [command.data for command in commands if type(command) is ToBroker]
        to_client = [command.data for command in commands if type(command) is ToClient]
        if to_broker:
            self.broker.send_all(to_broker)
        if to_client:
            self.client.send_all(to_client)
        if len(to_broker) + len(to_client) < len(commands):
            for command in commands:
                self._do(command)

    def _do(self, command: Command) -> None:
        if isinstance(command, Close):
            if command.reset:
                self.client.reset()
            self.close(command.reason)
        elif isinstance(command, HalfClose):
            if not self.is_over:
                self.client.finish()
        elif isinstance(command, Await):
            command.signal.on_release(self, partial(self.shared.resuming.released, command.token))
        elif isinstance(command, Wake):
            self.shared.resuming.wake_later(self, command.token, command.seconds)
            if command.unless is not None:
                command.unless.on_release(self, partial(self.shared.resuming.released, command.token))
        elif isinstance(command, Perform):
            self.shared.resuming.perform(self, command.token, command.work, command.apart)
        elif isinstance(command, Emit):
            self.shared.emit(self, command.event)
        elif isinstance(command, PauseClient):
            self.client.block()
        elif isinstance(command, ResumeClient):
            self.client.unblock()
        elif isinstance(command, PauseBroker):
            self.broker.block()
        elif isinstance(command, ResumeBroker):
            self.broker.unblock()

    def flush(self, side: Side) -> None:
        """Send on, since a socket takes bytes again."""
        side.flush()
        if self.closing:
            self._finish()

    # Ending.

    def close(self, reason: str | None) -> None:
        """End the conversation once all pending bytes are sent."""
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
        """Put other filters and limits in force."""
        if not self.closing:
            self.carry_out(self.link.apply(filters, limits))

    def drain(self) -> None:
        """Read no further requests, and end when all are answered."""
        if not self.closing:
            self.ended(self.client)

    def abort(self, reason: str | None = None, *, is_fault: bool = True) -> None:
        """End the conversation now, whatever is still pending."""
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
        """Free all that the ended conversation holds."""
        for command in self.link.release(self.reason, self.client.received, self.broker.received):
            if isinstance(command, Emit):
                self.shared.emit(self, command.event)
