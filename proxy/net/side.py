"""Side: one socket of a conversation; what it has not taken yet, and whether it is read.

Rules:
* A socket that does not take what it is given is stalled: the rest is kept, its peer is not read any more, and a client
  is not read either while it does not take its answers. So what is kept is the rest of one buffer, or one pipe.
* `blocked` counts the reasons not to read. When the last one goes, and there may be more, it is the reactor's turn.
* Once closed a side refers to nothing that refers to it: what was sent and received is freed at once.
* With edge-triggered events nothing says twice that there is something to read: `readable` remembers it.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from struct import Struct
from typing import TYPE_CHECKING

from proxy.core.commands import Command
from proxy.net.pipes import Pipe
from proxy.net.tls.sockets import TlsSocket
from proxy.protocol.frame import Buffer, Splitter

if TYPE_CHECKING:
    from proxy.net.conversation import Conversation
    from proxy.net.reactor import Reactor

AnySocket = socket.socket | TlsSocket
Take = Callable[[memoryview], list[Command] | None]

BUFFER = 256 << 10
PIECES = 64  # in one sendmsg
AT_ONCE = Struct("ii").pack(1, 0)  # SO_LINGER: on, for 0 seconds


class Side:
    """One socket. `take` is told what came from it, `splitter` has cut it into frames."""

    __slots__ = (
        "_finishes",
        "_reactor",
        "_sendmsg",
        "_tls",
        "_write",
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
        "sock",
        "splitter",
        "stalled",
        "stalls",
        "take",
    )

    def __init__(
        self, reactor: Reactor, conversation: Conversation, sock: AnySocket, splitter: Splitter, take: Take
    ) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reactor = reactor
        self.conversation = conversation
        self.peer = self  # until both are there
        self.is_client = False
        self.sock = sock
        self._tls = sock if isinstance(sock, TlsSocket) else None
        self.fd = sock.fileno()
        self.receive: Callable[[memoryview, int], int] = sock.recv_into
        self._write: Callable[[Buffer], int] = sock.send
        self._sendmsg: Callable[[list[Buffer]], int] = sock.sendmsg
        self.take = take
        self.splitter = splitter
        self.portion = BUFFER  # to be read at a time
        self.received = 0  # bytes
        self.readable = False  # there may be more to read, and no event will say so
        self.hung = False  # the other end said goodbye
        self.blocked = 0
        self.backlog: list[Buffer] = []
        self.pipe: Pipe | None = None  # leaves before the backlog
        self.stalled = False  # has a backlog or a pipe
        self.stalls = 0  # how often it began to
        self._finishes = False  # nothing is sent after the backlog

    @property
    def lacking(self) -> int:
        """How many bytes are to come of the frame that began, as far as that is known; 0: none began."""
        return self.splitter.lacking

    @property
    def kept(self) -> int:
        """Bytes that the socket did not take."""
        return sum(map(len, self.backlog)) + (self.pipe.held if self.pipe is not None else 0)

    @property
    def held(self) -> int:
        """Bytes that wait in here, in either direction; a part of a frame keeps the whole of it."""
        held = self._tls.held if self._tls is not None else 0
        if self.stalled:
            whole = {id(found): found for each in self.backlog if (found := getattr(each, "obj", each)) is not None}
            held += sum(map(len, whole.values())) + (self.pipe.held if self.pipe is not None else 0)
        return held

    def send(self, data: Buffer) -> None:
        """Send this, or keep what the socket does not take."""
        if self.stalled:
            self._keep(data, 0)
            return
        try:
            sent = self._write(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self.conversation.lost(self, error)
            return
        if sent < len(data):
            self._keep(data, sent)
            self._stall()

    def send_all(self, pieces: list[Buffer]) -> None:
        """Send these in one go, or keep what the socket does not take."""
        if len(pieces) == 1:
            self.send(pieces[0])
            return
        for start in range(0, len(pieces), PIECES):
            some = pieces[start : start + PIECES]
            stalled, sent = self.stalled, 0
            if not stalled:
                try:
                    sent = self._sendmsg(some)
                except BlockingIOError:
                    pass
                except OSError as error:
                    self.conversation.lost(self, error)
                    return
            for piece in some:
                if sent < len(piece):
                    self._keep(piece, sent)
                sent = max(sent - len(piece), 0)
            if self.backlog and not stalled:
                self._stall()

    def _keep(self, data: Buffer, sent: int) -> None:
        """Keep what was not sent: a copy of what is only lent, and of little; copying 100 MiB takes 100 ms."""
        rest = memoryview(data)[sent:]
        lent = len(rest) <= BUFFER or rest.obj is self._reactor.memory
        self.backlog.append(bytes(rest) if lent else rest)

    def keep(self, pipe: Pipe) -> None:
        """The socket did not take all that is in this pipe: it leaves before everything else."""
        self.pipe = pipe
        self._stall()

    def flush(self) -> None:
        """The socket takes bytes again: give it what was kept."""
        try:
            if self.pipe is not None:
                if not self.pipe.drain(self.fd, False):
                    return
                self._reactor.pipes.give_back(self.pipe)
                self.pipe = None
            while self.backlog:
                piece = self.backlog[0]
                sent = self._write(piece)
                if sent < len(piece):
                    self.backlog[0] = memoryview(piece)[sent:]
                    return
                del self.backlog[0]
        except BlockingIOError:
            return
        except OSError as error:
            self.conversation.lost(self, error)
            return
        self.stalled = False
        if self._finishes:
            self.finish()
        self.peer.unblock()
        if self.is_client:
            self.unblock()

    def finish(self) -> None:
        """Send nothing more after what was sent: the other end is told."""
        self._finishes = True
        if not self.stalled:
            with suppress(OSError):  # it is gone
                self.sock.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Have the kernel drop what it has not sent, and tell the other end so, when the socket is closed."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)

    def _stall(self) -> None:
        """Read nothing that would have to be sent here."""
        self.stalled = True
        self.stalls += 1
        self.peer.block()
        if self.is_client:
            self.block()

    def block(self) -> None:
        """There is one more reason not to read it."""
        self.blocked += 1

    def unblock(self) -> None:
        """There is one less."""
        self.blocked -= 1
        if not self.blocked and self.readable:
            self._reactor.again.append(self)

    def close(self) -> None:
        """Close the socket; what it has not taken is gone, and so is all that is sent to it from now on."""
        if self.pipe is not None:
            self.pipe.close()
            self.pipe = None
        self.sock.close()
        self.block()  # for good
        self.backlog.clear()
        self.stalled = False
        self.receive, self._write, self._sendmsg = _nothing, len, _count
        del self.sock, self._tls, self.take, self.peer, self.conversation


def _nothing(room: memoryview, most: int) -> int:
    """What comes from a closed socket."""
    raise BlockingIOError


def _count(pieces: list[Buffer]) -> int:
    """A closed socket takes all of them."""
    return sum(map(len, pieces))
