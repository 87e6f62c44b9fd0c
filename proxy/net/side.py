"""Side: one socket of a conversation, and whether it is read. What is sent to it is in `outgoing.py`.

Rules:
* While a socket is stalled its peer is not read, and a client is not read either while it does not take its answers.
* `blocked` counts the reasons not to read. When the last one goes, and there may be more, the side is in `again`.
* Once closed a side refers to nothing that refers to it: what was sent and received is freed at once.
* With edge-triggered events nothing says twice that there is something to read: `readable` remembers it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from proxy.core.commands import Command
from proxy.net.backlog import BUFFER
from proxy.net.outgoing import AnySocket, Outgoing
from proxy.net.tls.sockets import TlsSocket
from proxy.protocol.frame import Splitter

Take = Callable[[memoryview], list[Command] | None]
Again = OrderedDict["Side", None]  # a queue in which each stands once


class Side(Outgoing):
    """One socket. `take` is told what came from it, `splitter` has cut it into frames; `lost` is called when it breaks.

    `again` is where a side goes that may be read again, once.
    """

    __slots__ = (
        "_again",
        "_tls",
        "blocked",
        "gone",
        "hung",
        "is_client",
        "peer",
        "portion",
        "readable",
        "receive",
        "received",
        "splitter",
        "take",
    )

    def __init__(
        self,
        sock: AnySocket,
        splitter: Splitter,
        take: Take,
        lost: Callable[[Side, OSError], None],
        again: Again,
    ) -> None:
        super().__init__(sock, lost)
        self._again = again
        self.peer = self  # until both are there
        self.is_client = False
        self._tls = sock if isinstance(sock, TlsSocket) else None
        self.receive: Callable[[memoryview, int], int] = sock.recv_into
        self.take = take
        self.splitter = splitter
        self.portion = BUFFER  # to be read at a time
        self.received = 0  # bytes
        self.readable = False  # there may be more to read, and no event will say so
        self.hung = False  # the other end said goodbye
        self.gone = False  # it is not there any more
        self.blocked = 0

    @property
    def is_plain(self) -> bool:
        """May bytes pass through a pipe? The kernel cannot seal them."""
        return self._tls is None

    @property
    def lacking(self) -> int:
        """How many bytes are to come of the frame that began, as far as that is known; 0: none began."""
        return self.splitter.lacking

    @property
    def held(self) -> int:
        """Bytes that wait in here, in either direction."""
        held = self._tls.held if self._tls is not None else 0
        return held + self._backlog.held if self.stalled else held

    def _stall(self) -> None:
        """Read nothing that would have to be sent here."""
        self.stalled = True
        self.stalls += 1
        self.peer.block()
        if self.is_client:
            self.block()

    def _flows(self) -> None:
        """Read again what is sent here."""
        self.peer.unblock()
        if self.is_client:
            self.unblock()

    def block(self) -> None:
        """There is one more reason not to read it."""
        self.blocked += 1

    def unblock(self) -> None:
        """There is one less."""
        self.blocked -= 1
        if not self.blocked and self.readable:
            self._again[self] = None

    def close(self) -> None:
        """Close the socket: nothing comes from it any more, and nothing is sent."""
        self.block()  # for good
        self.receive = _nothing
        self._drop()
        del self._tls, self.take, self.peer


def _nothing(room: memoryview, most: int) -> int:
    """What comes from a closed socket."""
    raise BlockingIOError
