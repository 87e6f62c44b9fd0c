"""Changing: another snapshot takes the place of the one in force without a break.

Rules:
* A snapshot is prepared completely first. If it cannot be prepared, nothing changes.
* Removed ports close before new ones open. Connections from then on come under the new snapshot. Each open link changes
  over between two frames. Links change over in slices of a few milliseconds.
* Connections of a removed listener drain as all do when the proxy ends: requests in flight are answered.
* Counts are kept: the numbers of replaced filters are added to the worker's when the last link has left them.
* Plugins that only the previous snapshot had are stopped when nothing needs them any more (`running_plugins.py`).
* Changes come one after the other. None begins once the proxy is ending, and one under way is given up then: a plugin
  that hangs at its start keeps no proxy from ending.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import trio

from proxy.config import Config
from proxy.core.filters import Filters
from proxy.core.topology import Topology
from proxy.net.draining import Draining
from proxy.net.exposure import TellLearned
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

SLICE = 0.002  # seconds for which links change over before other tasks have their turn


class Changing:
    """The clusters that one worker serves. `opened` is called each time that ports have opened."""

    def __init__(
        self, worker: Worker, draining: Draining, opened: Callable[[], None], tell: TellLearned | None
    ) -> None:
        self._worker = worker
        self._draining = draining
        self._tell = tell
        self._opened = opened
        self._begun = trio.Event()
        self._is_stopping = False
        self._putting = trio.Lock()
        self._under_way: set[trio.CancelScope] = set()
        self._nursery: trio.Nursery  # runs what is served
        self._lasting: trio.Nursery  # runs what goes on until the last link is gone
        self._plugins: RunningPlugins
        self._fetching: dict[FetchedKeys, trio.CancelScope] = {}
        self._former: list[Filters] = []  # replaced filters that links may still use
        self._counted: Counter[str] = Counter()  # the counts of replaced filters
        self.served = {name: self._new(name) for name in worker.snapshot.clusters}

    def _new(self, name: str) -> Served:
        return Served(name, self._worker, self._opened, self._tell)

    @property
    def is_open(self) -> bool:
        """Are all bootstrap ports open?"""
        return all(served.is_open for served in self.served.values())

    def stop(self) -> None:
        """Give up the changes that are under way, because the proxy is ending."""
        self._is_stopping = True
        for scope in self._under_way:
            scope.cancel()
        self._begun.set()

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
        async with trio.open_nursery() as self._nursery:
            for served in self.served.values():
                await self._nursery.start(served.run)
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
        others = self._tell is not None
        snapshot = await trio.to_thread.run_sync(
            partial(build, config, worker.snapshot, worker.host, worker.mark, in_use, others=others)
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
        """Close removed listeners. Returns the topologies that their clients have."""
        gone: set[Topology] = set()
        for name, served in tuple(self.served.items()):
            if name in self._worker.snapshot.clusters:
                gone.update(served.close_gone())
            else:
                gone.update(served.end())
                del self.served[name]
        return gone

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
        """Drain the connections of removed listeners."""
        conversations = self._worker.reactor.conversations
        await self._draining.drain([each for each in conversations if each.link.connection.topology in gone], seconds)
        in_use = {conversation.link.filters for conversation in conversations}
        for filters in [each for each in self._former if each not in in_use]:
            self._former.remove(filters)
            self._counted.update(_counts(filters))

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
