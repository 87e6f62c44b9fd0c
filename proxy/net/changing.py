"""Changing: another snapshot takes the place of the one in force, while everything goes on.

Rules:
* It is prepared whole first; what cannot be prepared changes nothing.
* Ports that are no more close before others open. What comes from then on comes under the new snapshot; each link that
  is there changes over between two frames, a few milliseconds of them at a time.
* Connections of a listener that is gone are let go as all are when the proxy ends: what is asked is answered.
* What was counted stays counted: numbers of filters that are replaced are added to those of the worker when the last
  link has left them.
* Plugins that only the snapshot before had are stopped when nobody needs them any more (`running_plugins.py`).
* One change after the other. None is begun once the proxy is about to end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

import trio

from proxy.config import Config
from proxy.core.filters import Filters
from proxy.core.topology import Topology
from proxy.net.draining import Draining
from proxy.net.exposure import Tell
from proxy.net.machine import allow_open_files, memory_of_worker
from proxy.net.process import ENDING, StartError
from proxy.net.running_plugins import RunningPlugins
from proxy.net.served import Served
from proxy.net.serving import Worker
from proxy.net.snapshot import GatewaySnapshot
from proxy.net.snapshot_builder import build
from proxy.net.watching import look

if TYPE_CHECKING:
    from proxy.net.fetching import FetchedKeys

SLICE = 0.002  # seconds in which links change over before the others have their turn


class Changing:
    """What is served in one worker, by clusters. `opened` is called each time that ports were opened."""

    def __init__(self, worker: Worker, draining: Draining, opened: Callable[[], None], tell: Tell | None) -> None:
        self._worker = worker
        self._draining = draining
        self._tell = tell
        self._opened = opened
        self._begun = trio.Event()
        self._is_stopping = False
        self._putting = trio.Lock()
        self._scope = trio.CancelScope()
        self._nursery: trio.Nursery  # of what is served
        self._lasting: trio.Nursery  # of what goes on until the last link is gone
        self._plugins: RunningPlugins
        self._fetching: dict[FetchedKeys, trio.CancelScope] = {}
        self._former: list[Filters] = []  # that links may still be under
        self._counted: Counter[str] = Counter()  # by what is replaced
        self.served = {name: self._new(name) for name in worker.snapshot.clusters}

    def _new(self, name: str) -> Served:
        return Served(name, self._worker, self._opened, self._tell)

    @property
    def is_open(self) -> bool:
        """Can clients begin at all listeners?"""
        return all(served.is_open for served in self.served.values())

    def stop(self) -> None:
        """The proxy is about to end: what is being changed is given up."""
        self._is_stopping = True
        self._scope.cancel()
        self._begun.set()

    async def run(self, lasting: trio.Nursery) -> None:
        """Serve what is in force, until cancelled; `lasting` goes on until the last link is gone."""
        self._lasting, self._plugins = lasting, RunningPlugins(lasting)
        await self._plugins.start(self._worker.snapshot.hosted)
        async with trio.open_nursery() as self._nursery:
            for served in self.served.values():
                await self._nursery.start(served.run)
            self._fetch(self._worker.snapshot)
            self._begun.set()
            await trio.sleep_forever()

    async def prepare(self, config: Config) -> GatewaySnapshot:
        """Build a snapshot. Raises StartError with all reasons why it cannot be."""
        await self._begun.wait()
        if self._is_stopping:
            raise StartError(ENDING)
        worker = self._worker
        links = (conversation.link for conversation in worker.reactor.conversations)
        in_use = {(link.connection.listener, link.filters.plugins[0]) for link in links}
        others = self._tell is not None
        snapshot = await trio.to_thread.run_sync(
            partial(build, config, worker.snapshot, worker.host, worker.mark, in_use, others=others)
        )
        if self._is_stopping:
            raise StartError(ENDING)
        await self._plugins.prepare(snapshot)
        return snapshot

    def forget(self, snapshot: GatewaySnapshot) -> None:
        """This will not be put in force after all."""
        self._plugins.forget(snapshot)

    async def put(self, snapshot: GatewaySnapshot) -> None:
        """Put it in force. Raises StartError where the proxy ends."""
        async with self._putting:
            if not self._is_stopping:
                with trio.CancelScope() as self._scope:
                    await self._put(snapshot)
        if self._is_stopping:
            raise StartError(ENDING)

    async def _put(self, snapshot: GatewaySnapshot) -> None:
        before, self._worker.snapshot = self._worker.snapshot, snapshot
        in_force = set(snapshot.all_filters)
        self._former += [filters for filters in before.all_filters if filters not in in_force]
        self._worker.reactor.budget.apply(memory_of_worker(snapshot.config))
        allow_open_files(snapshot.config.limits)
        gone = self._close_gone()
        for name in snapshot.clusters:
            if name in self.served:
                await self.served[name].open_new()
            else:
                self.served[name] = self._new(name)
                await self._nursery.start(self.served[name].run)
        self._fetch(snapshot)
        await self._change_over(snapshot, gone)
        self._lasting.start_soon(self._let_go, gone, snapshot.config.limits.drain)
        self._plugins.retire(snapshot, [filters.lease for filters in self._former])
        if await look(snapshot.watched, self._worker.tasks):
            self._worker.forget()

    def _close_gone(self) -> set[Topology]:
        """Close the listeners that are no more. Gives the topologies that their clients have."""
        gone: set[Topology] = set()
        for name, served in tuple(self.served.items()):
            if name in self._worker.snapshot.clusters:
                gone.update(served.close_gone())
            else:
                gone.update(served.end())
                del self.served[name]
        return gone

    async def _change_over(self, snapshot: GatewaySnapshot, gone: Collection[Topology]) -> None:
        """Every link that stays is under the snapshot when this returns."""
        reactor = self._worker.reactor
        until = trio.current_time() + SLICE
        for conversation in tuple(reactor.conversations):
            connection = conversation.link.connection
            if connection.topology not in gone and connection.listener in snapshot.listeners:
                filters = snapshot.filters(connection.listener, conversation.link.filters.plugins[0])
                reactor.apply(conversation, filters, snapshot.limits)
            if trio.current_time() > until:
                await trio.lowlevel.checkpoint()
                until = trio.current_time() + SLICE

    async def _let_go(self, gone: Collection[Topology], seconds: float) -> None:
        """Connections of listeners that are gone are answered, and end."""
        conversations = self._worker.reactor.conversations
        await self._draining.drain([each for each in conversations if each.link.connection.topology in gone], seconds)
        in_use = {conversation.link.filters for conversation in conversations}
        for filters in [each for each in self._former if each not in in_use]:
            self._former.remove(filters)
            self._counted.update(_counts(filters))

    def _fetch(self, snapshot: GatewaySnapshot) -> None:
        """Fetch the keys that are needed now, and no others."""
        for keys in self._fetching.keys() - set(snapshot.fetched):
            self._fetching.pop(keys).cancel()
        for keys in snapshot.fetched:
            if keys not in self._fetching:
                scope = self._fetching[keys] = trio.CancelScope()
                self._lasting.start_soon(self._keep_fetching, keys, scope)

    async def _keep_fetching(self, keys: FetchedKeys, scope: trio.CancelScope) -> None:
        with scope:
            await self._worker.tasks.keep("fetching keys", keys.watch)

    def counted(self) -> Counter[str]:
        """Requests of each API."""
        snapshot = self._worker.snapshot
        counted = self._counted.copy()
        for filters in (*self._former, *snapshot.all_filters):
            counted.update(_counts(filters))
        return counted


def _counts(filters: Filters) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (api, _), count in filters.counts().items():
        counts[f"requests_{api}"] += count
    return counts
