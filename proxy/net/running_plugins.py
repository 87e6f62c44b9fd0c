"""Running plugins: those of one worker that were started, until they are stopped.

Rules:
* The plugins of a snapshot are started all, or none of them.
* What is prepared runs before it is in force. It is stopped where it never comes to that.
* A plugin that is replaced is told so at once, and stopped when the last that began by it has ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from weakref import ref

import trio

from proxy.core.filter_chain import Lease
from proxy.net.hosted import HostedPlugin
from proxy.net.snapshot import GatewaySnapshot

SOON = 0.2  # seconds between two looks whether a plugin is still needed


class RunningPlugins:
    """Those of one worker. `nursery` is where they run."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._running: dict[HostedPlugin, trio.CancelScope] = {}
        self._prepared: set[HostedPlugin] = set()  # of what is not in force yet
        self._leaving: set[HostedPlugin] = set()  # those that will be stopped

    async def start(self, plugins: Iterable[HostedPlugin]) -> None:
        """Start these plugins, or none of them. Raises StartError."""
        started = []
        try:
            for hosted in plugins:
                scope = trio.CancelScope()
                await self._nursery.start(self._keep, hosted, scope)
                self._running[hosted] = scope
                started.append(hosted)
        except BaseException:
            self._stop(started)
            raise

    async def _keep(self, hosted: HostedPlugin, scope: trio.CancelScope, task_status: trio.TaskStatus[None]) -> None:
        try:
            with scope:
                await hosted.run(task_status)
        finally:
            self._running.pop(hosted, None)
            self._leaving.discard(hosted)

    def _stop(self, plugins: Iterable[HostedPlugin]) -> None:
        for hosted in plugins:
            if hosted in self._running:
                self._running[hosted].cancel()

    async def prepare(self, snapshot: GatewaySnapshot) -> None:
        """Start what this snapshot has and that does not run yet. Raises StartError."""
        fresh = [hosted for hosted in snapshot.hosted if hosted not in self._running]
        await self.start(fresh)
        self._prepared.update(fresh)

    def forget(self, snapshot: GatewaySnapshot) -> None:
        """This will not be put in force after all."""
        fresh = self._prepared.intersection(snapshot.hosted)
        self._prepared -= fresh
        self._stop(fresh)

    def retire(self, snapshot: GatewaySnapshot, former: Collection[ref[Lease]]) -> None:
        """This is in force: plugins that nobody has any more are stopped once all `former` filters are done with."""
        needed = {plugin for filters in snapshot.all_filters for plugin in filters.plugins}
        self._prepared.difference_update(snapshot.hosted)
        others = self._leaving | self._prepared
        replaced = [each for each in self._running if each.plugin not in needed and each not in others]
        if replaced:
            self._leaving.update(replaced)
            for each in replaced:
                each.replaced()
            self._nursery.start_soon(self._stop_later, replaced, former)

    async def _stop_later(self, plugins: Collection[HostedPlugin], former: Collection[ref[Lease]]) -> None:
        while any(lease() is not None for lease in former):
            await trio.sleep(SOON)
        self._stop(plugins)
