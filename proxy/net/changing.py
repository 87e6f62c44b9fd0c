"""Changing: another snapshot takes the place of the one in force without a break.

Rules:
* A snapshot is prepared completely first. If it cannot be prepared, nothing changes.
* Removed ports close before new ones open. Connections from then on come under the new snapshot. Each open link changes
  over between two frames. Links change over in slices of a few milliseconds.
* Connections of a removed listener drain as all do when the proxy ends: requests in flight are answered.
* Plugins that only the previous snapshot had are stopped when nothing needs them any more (`running_plugins.py`).
* Changes come one after the other. None begins once the proxy is ending, and one under way is given up then: a plugin
  that hangs at its start keeps no proxy from ending.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import trio

from proxy.config import Config
from proxy.core.topology import Topology
from proxy.net.draining import Draining
from proxy.net.machine import allow_open_files, memory_of_worker
from proxy.net.process import ENDING, StartError
from proxy.net.replaced_filters import ReplacedFilters
from proxy.net.running_plugins import RunningPlugins
from proxy.net.served_clusters import ServedClusters
from proxy.net.snapshot import GatewaySnapshot
from proxy.net.snapshot_builder import build
from proxy.net.watching import look
from proxy.net.worker_parts import WorkerParts

if TYPE_CHECKING:
    from proxy.net.fetching import FetchedKeys

SLICE = 0.002  # seconds for which links change over before other tasks have their turn


class Changing:
    """Changes the snapshot of one worker, and what is served by it. `shared`: other workers have the same ports."""

    def __init__(self, worker: WorkerParts, draining: Draining, clusters: ServedClusters, *, shared: bool) -> None:
        self._worker = worker
        self._draining = draining
        self._clusters = clusters
        self._shared = shared
        self._begun = trio.Event()
        self._is_stopping = False
        self._putting = trio.Lock()
        self._under_way: set[trio.CancelScope] = set()
        self._lasting: trio.Nursery  # runs what goes on until the last link is gone
        self._plugins: RunningPlugins
        self._fetching: dict[FetchedKeys, trio.CancelScope] = {}
        self._replaced = ReplacedFilters()

    def stop(self) -> None:
        """Give up the changes that are under way, because the proxy is ending."""
        self._is_stopping = True
        for scope in self._under_way:
            scope.cancel()
        self._begun.set()
        if self._shared:  # a supervisor kills the worker while it waits for a plugin, and no line names that
            self._worker.host.hurry(self._worker.limits.drain)

    @contextmanager
    def _unless_it_ends(self) -> Iterator[None]:
        """A part of a change, which is given up when the proxy ends. Raises StartError then."""
        self._check()
        with trio.CancelScope() as scope:
            self._under_way.add(scope)
            try:
                yield
            finally:
                self._under_way.remove(scope)
        self._check()

    def _check(self) -> None:
        if self._is_stopping:
            raise StartError(ENDING)

    async def run(self, lasting: trio.Nursery) -> None:
        """Serve the snapshot in force until cancelled. `lasting` goes on until the last link is gone."""
        self._lasting, self._plugins = lasting, RunningPlugins(lasting)
        self._worker.reactor.budget.beside = lambda: self._plugins.held
        await self._plugins.start(self._worker.snapshot.hosted)
        async with trio.open_nursery() as nursery:
            await self._clusters.start(nursery)
            self._fetch(self._worker.snapshot)
            self._begun.set()
            await trio.sleep_forever()

    async def prepare(self, config: Config) -> GatewaySnapshot:
        """Build a snapshot. Raises StartError with all reasons why it cannot be built."""
        await self._begun.wait()
        self._check()
        worker = self._worker
        links = (conversation.link for conversation in worker.reactor.conversations)
        in_use = {(link.connection.listener, link.filters.plugins[0]) for link in links}
        snapshot = await trio.to_thread.run_sync(
            partial(build, config, worker.snapshot, worker.host, worker.mark, in_use, shared=self._shared)
        )
        with self._unless_it_ends():
            await self._plugins.prepare(snapshot)
        return snapshot

    def forget(self, snapshot: GatewaySnapshot) -> None:
        """Drop a snapshot that was prepared."""
        self._plugins.forget(snapshot)

    async def put(self, snapshot: GatewaySnapshot, instead_of: GatewaySnapshot | None = None) -> None:
        """Put a snapshot in force. Raises StartError if the proxy ends.

        `instead_of`: if another one than this is in force by then, the snapshot is dropped.
        """
        async with self._putting:
            if instead_of is not None and self._worker.snapshot is not instead_of:
                self.forget(snapshot)
                return
            with self._unless_it_ends():
                await self._put(snapshot)

    async def _put(self, snapshot: GatewaySnapshot) -> None:
        before, self._worker.snapshot = self._worker.snapshot, snapshot
        self._replaced.replace(before.all_filters, snapshot.all_filters)
        self._worker.reactor.budget.apply(memory_of_worker(snapshot.config))
        allow_open_files(snapshot.config.limits)
        gone = self._clusters.close_gone()
        await self._clusters.open_new()
        self._fetch(snapshot)
        await self._change_over(snapshot, gone)
        self._lasting.start_soon(self._let_go, gone, snapshot.config.limits.drain)
        self._plugins.retire(snapshot, self._replaced.leases)
        if await look(snapshot.watched, self._worker.tasks):
            self._worker.forget()

    async def _change_over(self, snapshot: GatewaySnapshot, gone: Collection[Topology]) -> None:
        """Put every link that stays under the snapshot."""
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
        """Drain the connections of removed listeners. Then drop the replaced filters that no link uses any more."""
        conversations = self._worker.reactor.conversations
        await self._draining.drain([each for each in conversations if each.link.connection.topology in gone], seconds)
        self._replaced.let_go({conversation.link.filters for conversation in conversations})

    def _fetch(self, snapshot: GatewaySnapshot) -> None:
        """Fetch the keys that the snapshot needs, and stop fetching others."""
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
        """How many requests of each API were counted."""
        return self._replaced.counted(self._worker.snapshot.all_filters)
