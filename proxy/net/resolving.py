"""Resolving: looks up the names of brokers in threads of its own.

A lookup may hang for as long as the system likes, and cannot be cancelled. trio has 40 threads for everything. Clients
of one cluster whose name hangs would use up all of them, so that other clusters and reads of files would wait.

Rules:
* Simultaneous requests for the same name share one lookup, and wait as long as dialling may take.
* One name uses at most two threads, all names together 64. Nothing else uses these.
"""

from __future__ import annotations

import socket
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import trio

OF_ONE_NAME = 2
OF_ALL = 64


class Lookup:
    """A lookup under way, and its result."""

    def __init__(self) -> None:
        self.done = trio.Event()
        self.found: list[Any] = []
        self.failed: Exception | None = None


class Resolver(trio.abc.HostnameResolver):
    """The resolver that trio asks for the addresses of names. trio parses numeric addresses itself."""

    def __init__(self) -> None:
        self._all = trio.CapacityLimiter(OF_ALL)
        self._names: WeakValueDictionary[object, trio.CapacityLimiter] = WeakValueDictionary()
        self._under_way: dict[tuple[object, ...], Lookup] = {}

    async def getaddrinfo(self, host: Any, port: Any, *how: int) -> list[Any]:
        """The addresses of a name. Raises OSError."""
        asked = (host, port, *how)
        lookup = self._under_way.get(asked)
        if lookup is None:
            lookup = self._under_way[asked] = Lookup()
            # A system task, since the lookup's thread goes on even if its first caller is cancelled.
            trio.lowlevel.spawn_system_task(self._look_up, lookup, asked)
        await lookup.done.wait()
        if lookup.failed is not None:
            raise type(lookup.failed)(*lookup.failed.args)
        return lookup.found

    async def _look_up(self, lookup: Lookup, asked: tuple[Any, ...]) -> None:
        limiter = self._names.get(asked[0])
        if limiter is None:
            limiter = self._names[asked[0]] = trio.CapacityLimiter(OF_ONE_NAME)
        look = partial(socket.getaddrinfo, *asked)
        try:
            async with limiter:
                lookup.found = await trio.to_thread.run_sync(look, abandon_on_cancel=True, limiter=self._all)
        except Exception as error:  # the error belongs to the callers, whatever it is
            lookup.failed = error
        finally:
            del self._under_way[asked]
            lookup.done.set()

    async def getnameinfo(self, sockaddr: Any, flags: int) -> tuple[str, str]:
        """The name of an address, which is never needed here."""
        raise NotImplementedError
