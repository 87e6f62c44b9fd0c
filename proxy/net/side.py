"""Side: one socket of a conversation: what is sent to it, and whether it is read.

Rules:
* A socket that does not take what it is given is stalled: the rest is kept (`backlog.py`), its peer is not read any
  more, and a client is not read either while it does not take its answers.
* `blocked` counts the reasons not to read. When the last one goes, and there may be more, the side is in `again`.
* Once closed a side refers to nothing that refers to it: what was sent and received is freed at once.
* With edge-triggered events nothing says twice that there is something to read: `readable` remembers it.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from struct import Struct

from proxy.core.commands import Command
from proxy.net.backlog import BUFFER, Backlog
from proxy.net.pipes import Pipe
from proxy.net.tls.sockets import TlsSocket
from proxy.protocol.frame import Buffer, Splitter

AnySocket = socket.socket | TlsSocket
Take = Callable[[memoryview], list[Command] | None]

PIECES = 64  # in one sendmsg
AT_ONCE = Struct("ii").pack(1, 0)  # SO_LINGER: on, for 0 seconds


class Side:
    """One socket. `take` is told what came from it, `splitter` has cut it into frames; `lost` is called when it breaks.

    `again` is where a side goes that may be read again.
    """

    __slots__ = (
        "_again",
        "_backlog",
        "_finishes",
        "_lost",
        "_sendmsg",
        "_tls",
        "_write",
        "blocked",
        "fd",
        "gone",
        "hung",
        "is_client",
        "peer",
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
        self,
        sock: AnySocket,
        splitter: Splitter,
        take: Take,
        lost: Callable[[Side, OSError], None],
        again: deque[Side],
    ) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lost = lost
        self._again = again
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
        self.gone = False  # it is not there any more
        self.blocked = 0
        self._backlog = Backlog()
        self.stalled = False  # has a backlog
        self.stalls = 0  # how often it began to
        self._finishes = False  # nothing is sent after the backlog

    @property
    def is_plain(self) -> bool:
        """May bytes pass through a pipe? The kernel cannot seal them."""
        return self._tls is None

    @property
    def lacking(self) -> int:
        """How many bytes are to come of the frame that began, as far as that is known; 0: none began."""
        return self.splitter.lacking

    @property
    def kept(self) -> int:
        """Bytes that the socket did not take."""
        return self._backlog.size if self.stalled else 0

    @property
    def held(self) -> int:
        """Bytes that wait in here, in either direction."""
        held = self._tls.held if self._tls is not None else 0
        return held + self._backlog.held if self.stalled else held

    # Sending.

    def send(self, data: Buffer) -> None:
        """Send this, or keep what the socket does not take."""
        if self.stalled:
            self._backlog.keep(data, 0)
            return
        try:
            sent = self._write(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self._lost(self, error)
            return
        if sent < len(data):
            self._backlog.keep(data, sent)
            self._stall()

    def send_all(self, pieces: list[Buffer]) -> None:
        """Send these in one go, or keep what the socket does not take."""
        if len(pieces) == 1:
            self.send(pieces[0])
            return
        for start in range(0, len(pieces), PIECES):
            some = pieces[start : start + PIECES]
            sent = 0
            if not self.stalled:
                try:
                    sent = self._sendmsg(some)
                except BlockingIOError:
                    pass
                except OSError as error:
                    self._lost(self, error)
                    return
            for piece in some:
                if sent < len(piece):
                    self._backlog.keep(piece, sent)
                    if not self.stalled:
                        self._stall()
                sent = max(sent - len(piece), 0)

    def send_from(self, pipe: Pipe, more: bool) -> bool:
        """Send what is in this pipe; `more` follows at once. False: the pipe is not the caller's any more.

        What the socket does not take stays in it, and leaves before everything else.
        """
        try:
            if pipe.drain(self.fd, more):
                return True
        except OSError as error:
            pipe.release()
            self._lost(self, error)
            return False
        self._backlog.pipe = pipe
        self._stall()
        return False

    def flush(self) -> None:
        """The socket takes bytes again: give it what was kept."""
        try:
            if not self._backlog.flush(self.fd, self._write):
                return
        except OSError as error:
            self._lost(self, error)
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

    # Being read.

    def block(self) -> None:
        """There is one more reason not to read it."""
        self.blocked += 1

    def unblock(self) -> None:
        """There is one less."""
        self.blocked -= 1
        if not self.blocked and self.readable:
            self._again.append(self)

    def close(self) -> None:
        """Close the socket; what it has not taken is gone, and so is all that is sent to it from now on."""
        self.sock.close()
        self.block()  # for good
        self._backlog.drop()
        self.stalled = False
        self.receive, self._write, self._sendmsg = _nothing, len, _count
        del self.sock, self._tls, self.take, self.peer, self._lost


def _nothing(room: memoryview, most: int) -> int:
    """What comes from a closed socket."""
    raise BlockingIOError


def _count(pieces: list[Buffer]) -> int:
    """A closed socket takes all of them."""
    return sum(map(len, pieces))
