"""Resolving: looks up the names of brokers in threads of its own.

A lookup may hang for as long as the system likes, and cannot be cancelled. trio has 40 threads for everything. Clients
of one cluster whose name hangs would use up all of them, so that other clusters and reads of files would wait.

Rules:
* Each cluster has its own threads: 8, of which one name uses at most two. A cluster may name as many brokers as it
  likes, and the lookups of other clusters do not wait for its own. Nothing else uses these threads.
* trio asks without saying for whom. So each task that dials says it before (`look_up_for`).
* Simultaneous requests of a cluster for the same name share one lookup, and wait as long as dialling may take.
* A lookup that has no thread yet is forgotten when nobody waits for it any more.
"""

from __future__ import annotations

import math
import socket
from contextvars import ContextVar
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import trio

OF_ONE_NAME = 2
OF_ONE_CLUSTER = 8

_cluster: ContextVar[str] = ContextVar("_cluster", default="")  # for which the current task dials
look_up_for = _cluster.set


class Lookup:
    """A lookup under way, and its result."""

    def __init__(self) -> None:
        self.done = trio.Event()
        self.found: list[Any] = []
        self.failed: Exception | None = None
        self.waiting = 0  # callers
        self.begun = False  # it has a thread
        self.scope = trio.CancelScope()


class Resolver(trio.abc.HostnameResolver):
    """The resolver that trio asks for the addresses of names. trio parses numeric addresses itself."""

    def __init__(self) -> None:
        self._threads = trio.CapacityLimiter(math.inf)  # bounded by the limiters of names and clusters
        self._limiters: WeakValueDictionary[object, trio.CapacityLimiter] = WeakValueDictionary()
        self._under_way: dict[tuple[Any, ...], Lookup] = {}

    async def getaddrinfo(self, host: Any, port: Any, *how: int) -> list[Any]:
        """The addresses of a name. Raises OSError."""
        asked = (_cluster.get(), host, port, *how)
        lookup = self._under_way.get(asked)
        if lookup is None:
            lookup = self._under_way[asked] = Lookup()
            # A system task, since the lookup's thread goes on even if its first caller is cancelled.
            trio.lowlevel.spawn_system_task(self._look_up, lookup, *asked)
        lookup.waiting += 1
        try:
            await lookup.done.wait()
        finally:
            lookup.waiting -= 1
            if not lookup.waiting and not lookup.begun and not lookup.done.is_set():
                del self._under_way[asked]
                lookup.scope.cancel()
        if lookup.failed is not None:
            raise type(lookup.failed)(*lookup.failed.args)
        return lookup.found

    async def _look_up(self, lookup: Lookup, cluster: str, *asked: Any) -> None:
        look = partial(socket.getaddrinfo, *asked)
        of_name, of_cluster = self._limiter(OF_ONE_NAME, cluster, asked[0]), self._limiter(OF_ONE_CLUSTER, cluster)
        try:
            with lookup.scope:
                async with of_name, of_cluster:
                    lookup.begun = True
                    lookup.found = await trio.to_thread.run_sync(look, abandon_on_cancel=True, limiter=self._threads)
        except Exception as error:  # the error belongs to the callers, whatever it is
            lookup.failed = error
        finally:
            lookup.done.set()
            if self._under_way.get((cluster, *asked)) is lookup:
                del self._under_way[cluster, *asked]

    def _limiter(self, most: int, *whose: object) -> trio.CapacityLimiter:
        limiter = self._limiters.get(whose)
        if limiter is None:
            limiter = self._limiters[whose] = trio.CapacityLimiter(most)
        return limiter

    async def getnameinfo(self, sockaddr: Any, flags: int) -> tuple[str, str]:
        """The name of an address, which is never needed here."""
        raise NotImplementedError


def why_unresolved(error: socket.gaierror) -> str:
    """Why a name has no address: there is none, or (for now) no name server said so."""
    return str(error.strerror).lower() if error.errno == socket.EAI_AGAIN else "no such host"
