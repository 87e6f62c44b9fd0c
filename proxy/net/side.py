"""Side: one socket of a conversation, and whether it is read. `outgoing.py` sends to it.

Rules:
* While a socket is stalled, its peer is not read. A client is not read either while it does not take its responses.
* `blocked` counts the reasons not to read. When the last one is gone, and there may be more, the side is in `again`.
* A closed side refers to nothing that refers to it, so that what was sent and received is freed at once.
* With edge-triggered events, an event for readable data comes only once. `readable` remembers it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from proxy.net.outgoing import AnySocket, Outgoing
from proxy.net.tls.sockets import TlsSocket
from proxy.protocol.splitter import Splitter

PORTION = 256 << 10  # bytes that are read at a time from most sides

Again = OrderedDict["Side", None]  # a queue in which each side stands once


class Side(Outgoing):
    """One socket. `splitter` cuts its bytes into frames. `lost` is called when it breaks.

    `again` is the queue for sides that may be read again.
    """

    __slots__ = (
        "_again",
        "blocked",
        "gone",
        "hung",
        "is_client",
        "peer",
        "portion",
        "readable",
        "received",
        "splitter",
        "tls",
    )

    def __init__(
        self,
        sock: AnySocket,
        splitter: Splitter,
        lost: Callable[[Side, OSError], None],
        again: Again,
    ) -> None:
        super().__init__(sock, lost)
        self._again = again
        self.peer = self  # until both sides exist
        self.is_client = False
        self.tls = sock if isinstance(sock, TlsSocket) else None
        self.splitter = splitter
        self.portion = PORTION  # how much to read at a time
        self.received = 0  # bytes so far
        self.readable = False  # there may be more to read, for which no event comes
        self.hung = False  # the peer has closed its end
        self.gone = False  # the connection broke
        self.blocked = 0

    @property
    def lacking(self) -> int:
        """How many bytes of the current frame are still to come, as far as known. 0: no frame has begun."""
        return self.splitter.lacking

    @property
    def held(self) -> int:
        """How many bytes wait here, in either direction."""
        held = self.tls.held if self.tls is not None else 0
        return held + self._backlog.held if self.stalled else held

    def _stall(self) -> None:
        """Stop reading bytes that would have to be sent here."""
        self.stalled = True
        self.stalls += 1
        self.peer.block()
        if self.is_client:
            self.block()

    def _flows(self) -> None:
        """Resume reading bytes that are sent here."""
        self.peer.unblock()
        if self.is_client:
            self.unblock()

    def block(self) -> None:
        """Add a reason not to read it."""
        self.blocked += 1

    def unblock(self) -> None:
        """Remove a reason not to read it."""
        self.blocked -= 1
        if not self.blocked and self.readable:
            self._again[self] = None

    def close(self) -> None:
        """Close the socket. Nothing is received or sent any more."""
        self.block()  # for good
        self._drop()
        del self.tls, self.peer
