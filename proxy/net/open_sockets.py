"""Open sockets: the sockets of all conversations of a reactor, watched by its epoll.

Rules:
* A socket is registered once, edge-triggered. It is unregistered when its conversation leaves.
* Bytes are counted since the start, including those of conversations that are over.
* Two descriptors have no side: `nudge()` and the `timer` wake the loop from its wait for events.
"""

from __future__ import annotations

import os
import select

from proxy.net.conversation import Conversation
from proxy.net.kernel_timer import KernelTimer
from proxy.net.side import Side

EDGES = select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET


class OpenSockets:
    """The open `conversations`.

    Whose socket a file descriptor is stands at its place in two lists: in `owners`, and which `sides` they are. With
    500 connections a dict of pairs takes 4 lines of the cache more for each event, which are slow to load.
    """

    def __init__(self) -> None:
        self.epoll = select.epoll()
        self.conversations: set[Conversation] = set()
        self.owners: list[Conversation | None] = []
        self.sides: list[Side | None] = []
        self._received = [0, 0]  # bytes from brokers and from clients, of conversations that are over
        self._nudge = os.eventfd(0, os.EFD_NONBLOCK)
        self.timer = KernelTimer()
        for fd in (self._nudge, self.timer.fd):
            self._make_places(fd)
            self.epoll.register(fd, select.EPOLLIN | select.EPOLLET)

    def add(self, conversation: Conversation) -> None:
        """Watch its sockets. Raises OSError if the system has no room for more: then nothing was added."""
        sides = conversation.client, conversation.broker
        for side in sides:
            self._make_places(side.fd)
            self.epoll.register(side.fd, EDGES)
        self.conversations.add(conversation)
        for side in sides:
            self.owners[side.fd], self.sides[side.fd] = conversation, side

    def remove(self, conversation: Conversation) -> None:
        """Stop watching its sockets. They are still open."""
        self.conversations.discard(conversation)
        for side in (conversation.client, conversation.broker):
            self._received[side.is_client] += side.received
            if self.sides[side.fd] is side:
                self.owners[side.fd] = self.sides[side.fd] = None
                self.epoll.unregister(side.fd)

    def conversation_of(self, side: Side) -> Conversation | None:
        """The conversation of this side; None: it was closed, and another may have its descriptor."""
        return self.owners[side.fd] if self.sides[side.fd] is side else None

    def _make_places(self, fd: int) -> None:
        """Make the lists long enough for this descriptor."""
        for places in (self.owners, self.sides):
            places += [None] * (fd + 1 - len(places))

    def nudge(self) -> None:
        """Wake the loop from its wait for events."""
        os.eventfd_write(self._nudge, 1)

    def close(self) -> None:
        """Close the epoll. Nothing waits for events any more."""
        self.epoll.close()
        os.close(self._nudge)
        self.timer.close()

    @property
    def bytes_from_clients(self) -> int:
        """Bytes received since the start."""
        return self._received[True] + sum(each.client.received for each in self.conversations)

    @property
    def bytes_from_brokers(self) -> int:
        """Bytes received since the start."""
        return self._received[False] + sum(each.broker.received for each in self.conversations)
