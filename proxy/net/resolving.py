"""Resolving: names of brokers, each looked up in a thread of its own.

A lookup may hang for as long as the system likes, and cannot be ended from outside. trio has 40 threads for everything:
clients of one cluster whose name hangs would take them all, from other clusters and from whatever reads files.

Rules:
* Who wants the same at the same time waits for the same lookup, as long as dialling may take.
* A name has two threads at the most, all names together 64, and nothing else uses those.
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
    """One that is under way, and what came of it."""

    def __init__(self) -> None:
        self.done = trio.Event()
        self.found: list[Any] = []
        self.failed: Exception | None = None


class Resolver(trio.abc.HostnameResolver):
    """What trio asks for the addresses of names; numbers it knows itself."""

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
            # It outlives whoever wanted it first: its thread does, too.
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
        except Exception as error:  # whatever it is, it belongs to those who wait
            lookup.failed = error
        finally:
            del self._under_way[asked]
            lookup.done.set()

    async def getnameinfo(self, sockaddr: Any, flags: int) -> tuple[str, str]:
        """The name of an address, which nobody here wants to know."""
        raise NotImplementedError
