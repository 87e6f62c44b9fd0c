"""Outgoing: sends to one socket, and keeps what the socket has not taken yet.

Rules:
* A socket that does not take all bytes is stalled: the rest is kept (`backlog.py`) and sent first.
* The socket is non-blocking and has TCP_NODELAY when it comes here (`dial.py`, `bind.py`).
* The socket may break during a send. Then `lost` is called, and the rest is dropped.
"""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from struct import Struct
from typing import Any

from proxy.net.backlog import Backlog
from proxy.net.tls.sockets import TlsSocket
from proxy.protocol.frame import Buffer

AnySocket = socket.socket | TlsSocket

PIECES = 64  # in one sendmsg
AT_ONCE = Struct("ii").pack(1, 0)  # SO_LINGER: on, for 0 seconds


class ClosedSocket:
    """Replaces a socket that is closed: it takes all data, and gives none."""

    def recv_into(self, room: memoryview, most: int) -> int:
        """There is nothing."""
        raise BlockingIOError

    def send(self, data: Buffer) -> int:
        """Take all of it."""
        return len(data)

    def sendmsg(self, pieces: list[Buffer]) -> int:
        """Take all of them."""
        return sum(map(len, pieces))

    def setsockopt(self, level: int, option: int, value: int) -> None:
        """It has no options."""


CLOSED: Any = ClosedSocket()


class Outgoing(ABC):
    """The sending half of one socket. `lost` is called when it breaks. `stalls` counts how often it was stalled."""

    __slots__ = ("_backlog", "_finishes", "_lost", "fd", "sock", "stalled", "stalls")

    def __init__(self, sock: AnySocket, lost: Callable[[Any, OSError], None]) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self._lost = lost
        self._backlog = Backlog()
        self.stalled = False  # it has a backlog
        self.stalls = 0
        self._finishes = False  # after the backlog, the sending direction is closed

    @property
    def kept(self) -> int:
        """How many bytes the socket has not taken."""
        return self._backlog.size if self.stalled else 0

    def send(self, data: Buffer) -> None:
        """Send this, or keep what the socket does not take."""
        if self.stalled:
            self._backlog.keep(data, 0)
            return
        try:
            sent = self.sock.send(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self._lost(self, error)
            return
        if sent < len(data):
            self._backlog.keep(data, sent)
            self._stall()

    def send_all(self, pieces: list[Buffer]) -> None:
        """Send these together, or keep what the socket does not take."""
        if len(pieces) == 1:
            self.send(pieces[0])
            return
        for start in range(0, len(pieces), PIECES):
            some = pieces[start : start + PIECES]
            sent = 0
            if not self.stalled:
                try:
                    sent = self.sock.sendmsg(some)
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

    def flush(self) -> None:
        """Send kept bytes, since the socket takes bytes again."""
        try:
            if not self._backlog.flush(self.sock.send):
                return
        except OSError as error:
            self._lost(self, error)
            return
        self.stalled = False
        if self._finishes:
            self.finish()
        self._flows()

    def finish(self) -> None:
        """Close the sending direction after everything before was sent."""
        self._finishes = True
        if not self.stalled:
            with suppress(OSError):  # the peer is gone
                self.sock.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Have the kernel send a reset, and drop unsent bytes, when the socket is closed."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)

    @abstractmethod
    def _stall(self) -> None:
        """Called when a backlog begins."""

    @abstractmethod
    def _flows(self) -> None:
        """Called when the backlog is gone."""

    def _drop(self) -> None:
        """Close the socket. Its backlog is dropped, and so is everything that is sent to it later."""
        self.sock.close()
        self.sock = CLOSED
        self._backlog.drop()
        self.stalled = False
        del self._lost
