"""Draining: ends the connections of one listener or of all, after their requests in flight had time to be answered.

Rules:
* Nothing more is read of their clients. Each connection ends when all its requests are answered.
* Connections that are left when the time is over are cut.
"""

from __future__ import annotations

from collections.abc import Iterable

import structlog
import trio

from proxy.net.conversation import Conversation
from proxy.net.process import DrainResult
from proxy.net.reactor import Reactor
from proxy.telemetry.counters import NetworkCounters

log = structlog.get_logger()


class Draining:
    """The drains of one worker."""

    def __init__(self, reactor: Reactor, counters: NetworkCounters) -> None:
        self._reactor = reactor
        self._counters = counters
        self._left: dict[trio.Event, set[Conversation]] = {}  # by drain: the connections that are left

    def ended(self, conversation: Conversation) -> None:
        """A connection is over."""
        for done, left in self._left.items():
            left.discard(conversation)
            if not left:
                done.set()

    async def drain(self, conversations: Iterable[Conversation], seconds: float) -> int:
        """Drain these connections. Returns how many were cut."""
        left, done = set(conversations), trio.Event()
        if not left:
            return 0
        self._left[done] = left
        try:
            self._reactor.drain(left)
            with trio.move_on_after(seconds):
                await done.wait()
            cut = tuple(left)
            self._counters.cut_by_drain += len(cut)
            for conversation in cut:
                self._reactor.end(conversation, f"not answered within {seconds:g} s (limits.drain)")
            return len(cut)
        finally:
            del self._left[done]

    async def drain_all(self, seconds: float, ending: DrainResult) -> None:
        """Drain all connections, and note how many there were and how many were cut."""
        ending.there = len(self._reactor.conversations)
        if ending.there:
            log.info("draining", connections=ending.there, within=f"{seconds:g}s")
        ending.cut += await self.drain(self._reactor.conversations, seconds)
