"""Running plugins: starts and stops the plugins of one worker.

Rules:
* All plugins of a snapshot are started, or none.
* Plugins of a prepared snapshot run before it is in force. If it is dropped, they are stopped.
* The plugins of a prepared snapshot have limited time to start. If one is not done then, the snapshot is given up: a
  plugin that hangs keeps no other configuration from coming.
* A replaced plugin is told at once. It is stopped when the last link that uses it has ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import inf
from weakref import ref

import trio

from proxy.core.filter_chain import Lease
from proxy.net.hosted import HostedPlugin
from proxy.net.process import StartError
from proxy.net.snapshot import GatewaySnapshot

SOON = 0.2  # seconds between two checks whether a plugin is still needed
# Seconds that all plugins of a prepared snapshot have to start. Less than what a worker has to prepare it (`child.py`).
START_WITHIN = 20.0


class RunningPlugins:
    """The running plugins of one worker. They run in `nursery`."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._running: dict[HostedPlugin, trio.CancelScope] = {}
        self._prepared: set[HostedPlugin] = set()  # plugins of a snapshot that is not in force yet
        self._leaving: set[HostedPlugin] = set()  # plugins that will be stopped

    @property
    def held(self) -> int:
        """Bytes that they keep of connections that are gone."""
        return sum(hosted.plugin.held for hosted in self._running)

    async def start(self, plugins: Iterable[HostedPlugin], until: float = inf) -> None:
        """Start these plugins by this time of trio's clock, or none of them. Raises StartError."""
        started = []
        try:
            for hosted in plugins:
                scope = trio.CancelScope()
                if not await self._nursery.start(self._keep, hosted, scope, until):
                    raise StartError(_too_late(hosted.name))
                self._running[hosted] = scope
                started.append(hosted)
        except BaseException:
            self._stop(started)
            raise

    async def _keep(
        self, hosted: HostedPlugin, scope: trio.CancelScope, until: float, task_status: trio.TaskStatus[bool]
    ) -> None:
        try:
            with scope:
                await hosted.run(until, task_status)
        finally:
            self._running.pop(hosted, None)
            self._leaving.discard(hosted)

    def _stop(self, plugins: Iterable[HostedPlugin]) -> None:
        for hosted in plugins:
            if hosted in self._running:
                self._running[hosted].cancel()

    async def prepare(self, snapshot: GatewaySnapshot) -> None:
        """Start the plugins of this snapshot that do not run yet. Raises StartError."""
        fresh = [hosted for hosted in snapshot.hosted if hosted not in self._running]
        await self.start(fresh, trio.current_time() + START_WITHIN)
        self._prepared.update(fresh)

    def forget(self, snapshot: GatewaySnapshot) -> None:
        """Drop a prepared snapshot: stop its new plugins."""
        fresh = self._prepared.intersection(snapshot.hosted)
        self._prepared -= fresh
        self._stop(fresh)

    def retire(self, snapshot: GatewaySnapshot, former: Collection[ref[Lease]]) -> None:
        """A snapshot is in force: plugins that are not in it are stopped once all `former` filters are out of use.

        A cluster without a listener has no filters. Its plugins are in the snapshot all the same.
        """
        self._prepared.difference_update(snapshot.hosted)
        others = self._leaving | self._prepared | {*snapshot.hosted}
        replaced = [each for each in self._running if each not in others]
        if replaced:
            self._leaving.update(replaced)
            for each in replaced:
                each.replaced()
            self._nursery.start_soon(self._stop_later, replaced, former)

    async def _stop_later(self, plugins: Collection[HostedPlugin], former: Collection[ref[Lease]]) -> None:
        while any(lease() is not None for lease in former):
            await trio.sleep(SOON)
        self._stop(plugins)


def _too_late(name: str) -> str:
    why = f"all plugins of another configuration together have {START_WITHIN:g} s to start"
    way_out = "leave it out, or mend it; or start the proxy anew with this configuration: then it is waited for"
    return f'plugin "{name}" has not started in time: {why}; {way_out}'
