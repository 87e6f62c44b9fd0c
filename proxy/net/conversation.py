"""Conversation: a link and its two sockets. Reads what comes, hands it to the link, carries out what the link wants.

Rules:
* A side is read until a read came back short: with edge-triggered events the next one says that there is more. Where
  the other end has said goodbye it is read to its end, for no event will follow.
* A side is not read while the link wants it paused, or while what came from it cannot be sent on; nor is a client that
  does not take its answers. So what is kept for a stalled socket is the rest of one buffer, or one pipe.
* Small pieces are posted, and leave together when every link that was ready has been read. Sent one by one, each would
  wake an idle broker for itself: 50 connections of 100 B cost 27 us a request instead of 20.
* Nothing here waits. Whoever could not go on is in `again`, or gets an event when it can.
* What a link wanted sent before its end is sent, even to a slow socket; then both sockets are closed.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import trio

from proxy.core.commands import (
    Close,
    Command,
    Emit,
    PauseBroker,
    PauseClient,
    Perform,
    ResumeBroker,
    ResumeClient,
    ToBroker,
    ToClient,
    Wake,
)
from proxy.core.link import Link
from proxy.net.pipes import SIZE as PIPE_SIZE
from proxy.net.pipes import WORTH_IT, Pipe
from proxy.net.tls.sockets import TlsSocket
from proxy.protocol.frame import Buffer, Splitter

if TYPE_CHECKING:
    from proxy.net.reactor import Reactor

AnySocket = socket.socket | TlsSocket

ROUNDS = 6  # reads of one side before the others have their turn
BUFFER = 256 << 10
SMALL = 8 << 10  # what is sent on together with what others have to send
HEAD_ONLY = 4 << 10  # what is read at a time where large frames pass: enough for a head, the body takes the pipe
PIECES = 64  # in one sendmsg


class Side:
    """One socket. `blocked` counts the reasons not to read it; `backlog` and `pipe` are what it has not taken yet."""

    __slots__ = (
        "backlog",
        "blocked",
        "conversation",
        "fd",
        "hung",
        "is_client",
        "peer",
        "pipe",
        "portion",
        "readable",
        "receive",
        "received",
        "send",
        "sock",
        "splitter",
        "stalled",
        "take",
    )

    def __init__(self, conversation: Conversation, sock: AnySocket, splitter: Splitter, is_client: bool) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.conversation = conversation
        self.peer = self  # until both are there
        self.sock = sock
        self.fd = sock.fileno()
        self.is_client = is_client
        self.splitter = splitter  # of what comes from here
        self.receive = sock.recv_into
        self.send = sock.send
        self.take: Callable[[memoryview], list[Command] | None] = (
            conversation.link.receive_client if is_client else conversation.link.receive_broker
        )
        self.backlog: list[Buffer] = []
        self.pipe: Pipe | None = None  # leaves before the backlog
        self.stalled = False  # has a backlog or a pipe
        self.blocked = 0
        self.readable = False  # there may be more to read, and no event will say so
        self.hung = False  # the other end said goodbye
        self.portion = BUFFER
        self.received = 0


class Conversation:
    """One link, its client and its broker. `active` is when either last said something; times are trio's."""

    __slots__ = ("_plain", "_reactor", "active", "broker", "client", "closing", "link", "opened", "reason")

    def __init__(self, reactor: Reactor, client: AnySocket, broker: AnySocket, link: Link) -> None:
        self._reactor = reactor
        self.link = link
        self.client = Side(self, client, link.requests.splitter, True)
        self.broker = Side(self, broker, link.responses.splitter, False)
        self.client.peer, self.broker.peer = self.broker, self.client
        self._plain = isinstance(client, socket.socket) and isinstance(broker, socket.socket)
        self.closing = False
        self.reason: str | None = None
        self.opened = self.active = trio.current_time()

    @property
    def begun(self) -> bool:
        """Did a whole request come?"""
        return self.client.splitter.begun

    # Reading.

    def read(self, side: Side) -> None:
        """Read a side that has something, for a few rounds."""
        reactor = self._reactor
        side.readable = True
        for _ in range(ROUNDS):
            if side.blocked:
                return
            if side.splitter.passing > WORTH_IT and not self._splice(side, side.peer):
                return
            portion, room = side.portion, reactor.room
            try:
                count = side.receive(room, portion)
            except BlockingIOError:
                side.readable = False
                return
            except OSError as error:
                self.lost(side, error)
                return
            if not count:
                self._ended(side)
                return
            side.received += count
            data = room[:count]
            commands = side.take(data)
            if commands is not None:
                self.carry_out(commands)
            elif count <= SMALL:
                reactor.post(side.peer, data, count)  # what nearly always happens
            else:
                self.send(side.peer, data)
            if count < portion and not side.hung:
                side.readable = False
                return
            side.portion = BUFFER
        reactor.again.append(side)

    def receive(self, side: Side, data: memoryview) -> None:
        """Take what was read from a side before it was ours."""
        commands = side.take(data)
        if commands is None:
            self.send(side.peer, data)
        else:
            self.carry_out(commands)

    def goodbye(self, side: Side, broken: bool) -> None:
        """The other end will send no more, or (`broken`) is not there any more."""
        side.hung = True
        if broken and side.blocked:
            self.abort(None if side.is_client else "the connection to the broker broke")
        else:
            self.read(side)

    def _splice(self, side: Side, peer: Side) -> bool:
        """Let a body pass through a pipe. True: the side may have more to read."""
        splitter = side.splitter
        self._reactor.deliver()
        pipe = self._reactor.pipes.take() if self._plain else None  # the kernel cannot seal what passes a pipe
        if pipe is None:
            return True
        side.portion = HEAD_ONLY
        try:
            while splitter.passing and not side.blocked:
                count = pipe.fill(side.fd, min(splitter.passing, PIPE_SIZE))
                if not count:
                    self._ended(side)
                    return False
                side.received += count
                splitter.passed(count)
                if not pipe.drain(peer.fd, not splitter.between):
                    peer.pipe, pipe = pipe, None
                    self._stall(peer)
                    return False
        except BlockingIOError:
            side.readable = False
        except OSError as error:
            self.lost(side, error)
        finally:
            if pipe is not None:
                self._reactor.pipes.give_back(pipe)
        return side.readable

    def _ended(self, side: Side) -> None:
        """The other end sent its last byte."""
        side.readable = False
        side.blocked += 1
        self.carry_out(self.link.client_closed() if side.is_client else self.link.broker_closed())

    def lost(self, side: Side, error: OSError) -> None:
        """A socket broke. What was on its way to it, or from it, is gone."""
        self.abort(None if side.is_client else f"the connection to the broker broke: {error.strerror or error}")

    # Sending.

    def carry_out(self, commands: Sequence[Command]) -> None:
        """Do what the link wants. What goes to one socket leaves together."""
        self._reactor.deliver()
        for side, kind in ((self.broker, ToBroker), (self.client, ToClient)):
            pieces = [command.data for command in commands if isinstance(command, kind)]
            if len(pieces) == 1:
                self.send(side, pieces[0])
            elif pieces:
                self._send_all(side, pieces)
        for command in commands:
            if not isinstance(command, ToBroker | ToClient):
                self._do(command)

    def _do(self, command: Command) -> None:
        if isinstance(command, Close):
            self.close(command.reason)
        elif isinstance(command, Wake):
            self._reactor.wake_later(self, command.token, command.seconds)
        elif isinstance(command, Perform):
            self._reactor.perform(self, command.token, command.work)
        elif isinstance(command, Emit):
            self._reactor.emit(self, command.event)
        elif isinstance(command, PauseClient | PauseBroker):
            (self.client if isinstance(command, PauseClient) else self.broker).blocked += 1
        elif isinstance(command, ResumeClient | ResumeBroker):
            self._unblock(self.client if isinstance(command, ResumeClient) else self.broker)

    def send(self, side: Side, data: Buffer) -> None:
        """Send this, or keep what the socket does not take."""
        self._reactor.deliver()
        if side.stalled:
            side.backlog.append(bytes(data))
            return
        try:
            sent = side.send(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self.lost(side, error)
            return
        if sent < len(data):
            self.keep(side, data, sent)

    def keep(self, side: Side, data: Buffer, sent: int) -> None:
        """The socket took only so much of it."""
        side.backlog.append(bytes(memoryview(data)[sent:]))
        self._stall(side)

    def _send_all(self, side: Side, pieces: list[Buffer]) -> None:
        """Send these in one go, or keep what the socket does not take."""
        for start in range(0, len(pieces), PIECES):
            some = pieces[start : start + PIECES]
            stalled, sent = side.stalled, 0
            if not stalled:
                try:
                    sent = side.sock.sendmsg(some) if self._plain else side.send(b"".join(some))
                except BlockingIOError:
                    pass
                except OSError as error:
                    self.lost(side, error)
                    return
            for piece in some:
                if sent < len(piece):
                    side.backlog.append(bytes(memoryview(piece)[sent:]))
                sent = max(sent - len(piece), 0)
            if side.backlog and not stalled:
                self._stall(side)

    def flush(self, side: Side) -> None:
        """The socket takes bytes again."""
        try:
            if side.pipe is not None:
                if not side.pipe.drain(side.fd, False):
                    return
                self._reactor.pipes.give_back(side.pipe)
                side.pipe = None
            while side.backlog:
                piece = side.backlog[0]
                sent = side.send(piece)
                if sent < len(piece):
                    side.backlog[0] = memoryview(piece)[sent:]
                    return
                del side.backlog[0]
        except BlockingIOError:
            return
        except OSError as error:
            self.lost(side, error)
            return
        side.stalled = False
        self._unblock(side.peer)
        if side.is_client:
            self._unblock(side)
        if self.closing:
            self._finish()

    def _stall(self, side: Side) -> None:
        """The socket takes no more: read nothing that would have to be sent there."""
        side.stalled = True
        side.peer.blocked += 1
        if side.is_client:
            side.blocked += 1

    def _unblock(self, side: Side) -> None:
        side.blocked -= 1
        if not side.blocked and side.readable:
            self._reactor.again.append(side)

    # Ending.

    def close(self, reason: str | None) -> None:
        """End it, once everything that was to be sent is sent."""
        if self.closing:
            return
        self.closing = True
        self.reason = reason
        self.client.blocked += 1  # for good
        self.broker.blocked += 1
        self._finish()

    def _finish(self) -> None:
        if not self.client.stalled and not self.broker.stalled:
            self.abort()

    def drain(self) -> None:
        """Read no further requests; end when all is answered."""
        if not self.closing:
            self._ended(self.client)

    def abort(self, reason: str | None = None) -> None:
        """End it now, whatever was still to be sent."""
        if self._reactor.forget(self):
            self.closing = self.link.closed = True
            self.reason = self.reason or reason
            for side in (self.client, self.broker):
                if side.pipe is not None:
                    side.pipe.close()
                    side.pipe = None
                side.sock.close()
            self._reactor.ended(self)
