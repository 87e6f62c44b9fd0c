"""Reactor: serves every link of a worker, in one trio task, in a plain loop over a private epoll (`serving.py`).

A task per connection and direction costs 10 to 20 us of trio's scheduler on every wake-up. That is twice the time to
read, examine and forward a small request. Measured, such tasks reach 0.33 of a direct connection, and this loop 0.73.
So trio sees one file descriptor, the epoll's. Everything that awaits (dialling, timers, discovery, drain) runs in other
tasks.

Rules:
* Nothing awaits while links are served, so other tasks of the same thread may call `adopt()`, `close()` and the like.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import trio

from proxy.core.filters import Filters
from proxy.core.limits import Limits
from proxy.core.link import Link
from proxy.net.conversation import Conversation
from proxy.net.machine import begin_to_serve
from proxy.net.outgoing import AnySocket
from proxy.net.serving import ServingLoop

COMING_IN = 0.005  # seconds after a client was accepted; the handshake of one nearby is over by then


class Reactor(ServingLoop):
    """Serves links. `ended` is called once for each, with a reason if something was wrong. `emit` is called with its
    events.

    `memory`: bytes that all links together may hold.
    """

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled. Then all links are closed."""
        begin_to_serve()
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(self._resuming.run)
                task_status.started()
                while True:
                    if self._again or self.turns.line or self._hung_up:
                        await trio.lowlevel.checkpoint()
                    else:
                        await trio.lowlevel.wait_readable(self.sockets.epoll.fileno())
                    self._serve()
        finally:
            for conversation in list(self.conversations):
                conversation.abort()
            self.sockets.close()

    def adopt(self, client: AnySocket, broker: AnySocket, link: Link) -> Conversation:
        """Take over two connected sockets. The reactor closes them in the end."""
        conversation = Conversation(self._shared, client, broker, link)
        self.sockets.add(conversation)
        return conversation

    def expect(self) -> None:
        """A client was accepted: its handshake gives other tasks something to do very soon."""
        self._lingers_from = trio.current_time() + COMING_IN

    def end(self, conversation: Conversation, reason: str) -> None:
        """Close both sockets now."""
        conversation.abort(reason)

    def drain(self, conversations: Iterable[Conversation]) -> None:
        """Read no further requests on these. Each closes when all its requests are answered."""
        for conversation in tuple(conversations):
            self._outside(conversation, conversation.drain)

    def apply(self, conversation: Conversation, filters: Filters, limits: Limits) -> None:
        """Put other filters and limits in force on this conversation."""
        self._outside(conversation, partial(conversation.apply, filters, limits))
