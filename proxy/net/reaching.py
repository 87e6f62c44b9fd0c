"""Reaching: connects to a broker for the port that a client came to, and authenticates there if needed.

Rules:
* A client at the bootstrap port may be served by any broker. If one fails, the next is tried while there is time.
* Any response may give a broker's address, and is believed. If nobody answers there, the address from discovery is
  tried. A response may be wrong, and until the next discovery all clients would be sent to that address.
* If we authenticate to brokers here, we first look whether the client is a Doorkeeper that searches for loops
  (`marked.py`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial

import trio

from proxy.core.topology import Endpoint, Topology
from proxy.net.dial import UnreachableError
from proxy.net.logins import LoggedIn
from proxy.net.loops import COMES_BACK, LoopError
from proxy.net.marked import answer_loop, mark_of
from proxy.net.outgoing import AnySocket
from proxy.net.upstream import Upstream

LogInOnSocket = Callable[[AnySocket, Endpoint], Awaitable[LoggedIn | None]]
HEARSAY = 1.0  # seconds within which all workers know of a broker that one learned of; a thousandth of that is usual


class Reaching:
    """The way to the brokers of one listener. `waiting`: clients that wait for a broker that is not known yet."""

    def __init__(self, topology: Topology, waiting: trio.lowlevel.ParkingLot) -> None:
        self._topology = topology
        self._waiting = waiting

    async def reach(
        self,
        upstream: Upstream,
        client: AnySocket,
        broker_id: int | None,
        principal: str | None,
        seconds: float,
        *,
        later: bool,
    ) -> tuple[AnySocket, LoggedIn | None]:
        """A connection to that broker, or (None) to any, within so many seconds. Raises UnreachableError.

        `principal`: the client for whom we authenticate; `later`: that is done on the link.
        """
        candidates: Iterable[Endpoint] = upstream.anybody()
        if broker_id is not None:
            candidates = await self._places(upstream, broker_id)
        if later or upstream.access.identities is None:
            return await _first(upstream, candidates, seconds, _nobody)
        mark = await mark_of(client)
        try:
            if mark == upstream.access.mark:
                raise LoopError(next(iter(candidates)), COMES_BACK)
            return await _first(
                upstream, candidates, seconds, partial(upstream.access.log_in, principal=principal, mark=mark)
            )
        except LoopError:
            if mark is not None:
                answer_loop(client)
            raise

    async def _places(self, upstream: Upstream, broker_id: int) -> Iterable[Endpoint]:
        """The addresses of a broker: the newest one, and the one from discovery, if a response to a client changed it
        since.

        Waits a moment for a broker of which only another worker knows. Raises UnreachableError.
        """
        if broker_id not in self._topology.brokers:
            with trio.move_on_after(HEARSAY):
                while broker_id not in self._topology.brokers:
                    await self._waiting.park()
        if broker_id not in self._topology.brokers:
            raise UnreachableError(self._topology.place(broker_id), "no such broker was ever seen")
        told = self._topology.brokers[broker_id].real
        return dict.fromkeys((told, upstream.brokers.get(broker_id, told)))


async def _nobody(connected: AnySocket, endpoint: Endpoint) -> None:
    """Do not authenticate to the broker now."""


async def _first(
    upstream: Upstream, candidates: Iterable[Endpoint], seconds: float, log_in: LogInOnSocket
) -> tuple[AnySocket, LoggedIn | None]:
    """A connection to the first of these that can be reached. Raises UnreachableError."""
    until = trio.current_time() + seconds
    failed: UnreachableError | None = None
    for endpoint in candidates:
        try:
            connected = await upstream.access.connect(endpoint, until)
        except UnreachableError as error:
            failed = failed or error
            continue
        try:
            return connected, await log_in(connected, endpoint)
        except UnreachableError as error:
            failed = failed or error
            connected.close()
        except BaseException:  # the proxy is about to end
            connected.close()
            raise
    assert failed is not None, "a cluster has bootstrap addresses"
    try:
        raise failed
    finally:
        del failed  # its traceback refers to this frame
