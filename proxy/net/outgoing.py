"""Outgoing: what is sent to one socket, and what it has not taken yet.

Rules:
* A socket that does not take what it is given is stalled: the rest is kept (`backlog.py`) and leaves first.
* It may break while it is given something. `lost` is told so, and the rest is nobody's.
"""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from struct import Struct
from typing import Any

from proxy.net.backlog import Backlog
from proxy.net.pipes import Pipe
from proxy.net.tls.sockets import TlsSocket
from proxy.protocol.frame import Buffer

AnySocket = socket.socket | TlsSocket

PIECES = 64  # in one sendmsg
AT_ONCE = Struct("ii").pack(1, 0)  # SO_LINGER: on, for 0 seconds


class Outgoing(ABC):
    """One socket, as far as it is sent to. `lost` is called when it breaks; `stalls` is how often it was stalled."""

    __slots__ = ("_backlog", "_finishes", "_lost", "_sendmsg", "_write", "fd", "sock", "stalled", "stalls")

    def __init__(self, sock: AnySocket, lost: Callable[[Any, OSError], None]) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self.fd = sock.fileno()
        self._write: Callable[[Buffer], int] = sock.send
        self._sendmsg: Callable[[list[Buffer]], int] = sock.sendmsg
        self._lost = lost
        self._backlog = Backlog()
        self.stalled = False  # has a backlog
        self.stalls = 0
        self._finishes = False  # nothing is sent after the backlog

    @property
    def kept(self) -> int:
        """Bytes that the socket did not take."""
        return self._backlog.size if self.stalled else 0

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
        self._flows()

    def finish(self) -> None:
        """Send nothing more after what was sent: the other end is told."""
        self._finishes = True
        if not self.stalled:
            with suppress(OSError):  # it is gone
                self.sock.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Have the kernel drop what it has not sent, and tell the other end so, when the socket is closed."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)

    @abstractmethod
    def _stall(self) -> None:
        """It has a backlog now."""

    @abstractmethod
    def _flows(self) -> None:
        """It has none any more."""

    def _drop(self) -> None:
        """The socket is closed. What it has not taken is gone, and so is all that is sent to it from now on."""
        self.sock.close()
        self._backlog.drop()
        self.stalled = False
        self._write, self._sendmsg = len, _count
        del self.sock, self._lost


def _count(pieces: list[Buffer]) -> int:
    """A closed socket takes all of them."""
    return sum(map(len, pieces))
