"""Side pair: the two sockets of a conversation, and what concerns both.

Rules:
* Each side is the other's peer: data received from one is sent to the other.
* A pair that is paused, because memory is short, is not read. If its client closes its end meanwhile, or has done so,
  the pair ends, and unread data is lost: it would be held for a client that takes no answers. The broker's close cannot
  be waited for, because it comes behind the unread data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from proxy.net.side import Side


class SidePair(ABC):
    """A client and its broker."""

    __slots__ = ("broker", "client", "paused")

    def __init__(self, client: Side, broker: Side) -> None:
        self.client = client
        self.broker = broker
        client.peer, broker.peer = broker, client
        client.is_client = True
        self.paused = False

    @property
    def begun(self) -> bool:
        """Has a whole request come?"""
        return self.client.splitter.begun

    @property
    def moved(self) -> int:
        """A number that changes with every byte received, and with every pending byte sent."""
        client, broker = self.client, self.broker
        moved = client.received + broker.received
        return moved - client.kept - broker.kept if client.stalled or broker.stalled else moved

    @property
    def is_left(self) -> bool:
        """Has the client closed its end?"""
        return self.client.hung

    @abstractmethod
    def abort(self, reason: str | None = None, *, is_fault: bool = True) -> None:
        """End it now."""

    def pause(self) -> None:
        """Stop reading it for a while."""
        self.paused = True
        self.client.block()
        self.broker.block()
        if self.is_left:
            self.abort()

    def resume(self) -> None:
        """Read it again."""
        self.paused = False
        self.client.unblock()
        self.broker.unblock()
