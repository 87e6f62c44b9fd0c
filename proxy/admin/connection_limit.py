"""The connection limit: at most MOST connections are open on the admin side, whoever reaches its port.

Without a limit, a stranger could hold connections until the gateway has no descriptor left for Kafka clients.

Rules:
* For each connection over the limit, the one that has been silent longest is closed. A new connection is never refused,
  so a scrape is answered while somebody holds many silent connections.
* A connection is silent while nothing of a request comes, and nothing of a response leaves.
* The application never notices that its client was closed, and is never cancelled: it may be in the middle of a change.
  It finishes, and its response is discarded.
* Where Hypercorn handles an event, it may wait for ever: for an application that reads no more of a body, or for the
  end of a response. There it waits in a scope of ours, which ends with the connection. So a connection leaves no task.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf
from typing import TypeVar

import trio
from hypercorn.config import Config as HypercornConfig
from hypercorn.events import Closed, Event, Updated
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.events import StreamClosed

from proxy.admin.http1 import Http1Protocol

MOST = 200  # twice the readers that may wait for the ledger (`merged_ledger.WAITING`); others take a few
ENDING = 1.0  # seconds after a response, for what takes no time unless the application left much of a body unread

E = TypeVar("E")
OnClosed = Callable[[str], None]  # the argument: the host of the client


class OpenConnections:
    """The open connections of one admin side. `on_closed` is called for each that is closed for another."""

    def __init__(self, on_closed: OnClosed) -> None:
        self._on_closed = on_closed
        self._open: OrderedDict[LimitedConnection, None] = OrderedDict()  # the one that is silent longest is the first

    async def add(self, connection: LimitedConnection) -> None:
        """A new connection. Another one is closed if there are too many."""
        self._open[connection] = None
        if len(self._open) > MOST:
            silent, _ = self._open.popitem(last=False)
            self._on_closed(silent.client[0] if silent.client else "")
            await silent.close()

    def heard(self, connection: LimitedConnection) -> None:
        """It is not silent."""
        if connection in self._open:
            self._open.move_to_end(connection)

    def remove(self, connection: LimitedConnection) -> None:
        """It is over."""
        self._open.pop(connection, None)


class LimitedConfig(HypercornConfig):
    """Hypercorn's settings, and the open connections. Each connection finds both in `config`."""

    def __init__(self, connections: OpenConnections) -> None:
        self.connections = connections


class LimitedConnection(Http1Protocol):
    """One connection, which can be closed at any time."""

    config: LimitedConfig
    _client_left = False  # or sends no more: it may still read a response
    _is_closed = False

    async def initiate(self) -> None:
        """It was accepted."""
        self._scopes: set[trio.CancelScope] = set()
        await self.config.connections.add(self)

    async def handle(self, event: Event) -> None:
        """Something came from the client, or (`Closed`) the connection is over."""
        if isinstance(event, Closed):
            self._client_left = True
        is_over = self._client_left and self.stream is None  # no request is under way
        await self._unless_closed(super().handle, event)
        if is_over:
            await self.close()

    async def stream_send(self, event: StreamEvent) -> None:
        """The application sends a part of its response, or (`StreamClosed`) has sent all of it."""
        is_last = isinstance(event, StreamClosed)
        with trio.move_on_after(ENDING if is_last else inf) as sending:
            await self._unless_closed(super().stream_send, event)
        if sending.cancelled_caught or (is_last and self._client_left):
            await self.close()

    async def close(self) -> None:
        """Close the socket now. The application goes on until it is done."""
        if self._is_closed:
            return
        self._is_closed = True
        self.config.connections.remove(self)
        for scope in self._scopes:
            scope.cancel()
        with trio.CancelScope(shield=True):  # one of these scopes may be the caller's
            await self.send(Closed())
            await self.send(Updated(idle=False))  # otherwise Hypercorn's timer goes on

    async def _unless_closed(self, do: Callable[[E], Awaitable[None]], event: E) -> None:
        """Do this with the event until it is done or the connection is closed."""
        if self._is_closed:
            return
        self.config.connections.heard(self)
        with trio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                with suppress(trio.BusyResourceError):  # another task is closing the socket
                    await do(event)
            finally:
                self._scopes.discard(scope)
