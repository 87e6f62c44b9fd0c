"""Reaching: from the port that a client came to to a connection with a broker, which knows who we are.

Rules:
* A client that begins at the bootstrap port may be served by any broker: the next one is tried while there is time.
* Where a broker is, any answer may say, and is believed. Where nobody answers there, it is tried where discovery found
  it: an answer may be wrong, and until the next discovery all clients would be sent there.
"""

from __future__ import annotations

from collections.abc import Iterable

import trio

from proxy.core.topology import Endpoint, Topology
from proxy.net.dial import UnreachableError
from proxy.net.introductions import Introduced
from proxy.net.tls.brokers import TlsStream
from proxy.net.upstream import Upstream

HEARSAY = 1.0  # seconds in which what one worker learned is known to all; one thousandth is usual


class Reaching:
    """The way to the brokers of one listener. `waiting`: clients of brokers that are not known yet."""

    def __init__(self, topology: Topology, waiting: trio.lowlevel.ParkingLot) -> None:
        self._topology = topology
        self._waiting = waiting

    async def reach(
        self, upstream: Upstream, broker_id: int | None, principal: str | None, seconds: float, *, later: bool
    ) -> tuple[trio.SocketStream | TlsStream, Introduced | None]:
        """A connection to that broker, or (None) to any, within so many seconds. Raises UnreachableError.

        `principal`: for whom; `later`: the broker is told on the link who we are.
        """
        candidates: Iterable[Endpoint] = upstream.anybody()
        if broker_id is not None:
            candidates = await self._places(upstream, broker_id)
        until = trio.current_time() + seconds
        failed: UnreachableError | None = None
        for endpoint in candidates:
            try:
                stream = await upstream.dial(endpoint, until)
            except UnreachableError as error:
                failed = failed or error
                continue
            try:
                return stream, None if later else await upstream.introduce(stream, endpoint, principal)
            except UnreachableError as error:
                failed = failed or error
                await trio.aclose_forcefully(stream)
            except BaseException:  # the proxy is about to end
                await trio.aclose_forcefully(stream)
                raise
        assert failed is not None, "a cluster has bootstrap addresses"
        try:
            raise failed
        finally:
            del failed  # its traceback has this frame

    async def _places(self, upstream: Upstream, broker_id: int) -> Iterable[Endpoint]:
        """Where that broker is, and where discovery found it last: an answer to a client may have said otherwise since.

        Another worker may have told of it before we hear of it. Raises UnreachableError.
        """
        if broker_id not in self._topology.brokers:
            with trio.move_on_after(HEARSAY):
                while broker_id not in self._topology.brokers:
                    await self._waiting.park()
        if broker_id not in self._topology.brokers:
            raise UnreachableError(self._topology.place(broker_id), "no such broker was ever seen")
        told = self._topology.brokers[broker_id].real
        return dict.fromkeys((told, upstream.brokers.get(broker_id, told)))
