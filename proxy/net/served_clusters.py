"""Served clusters: the clusters of the snapshot in force, as one worker serves them.

A cluster that stays in the configuration is not begun anew: its listeners change, and its open ports stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import trio

from proxy.core.topology import Topology
from proxy.net.channel import Learned
from proxy.net.exposure import TellLearned
from proxy.net.served import Served
from proxy.net.upstream import Upstream
from proxy.net.worker_parts import WorkerParts


class ServedClusters:
    """The clusters of one worker. `opened` is called each time that ports have opened."""

    def __init__(self, worker: WorkerParts, opened: Callable[[], None], tell: TellLearned | None) -> None:
        self._worker = worker
        self._opened = opened
        self._tell = tell
        self._nursery: trio.Nursery  # runs what is served
        self._by_name = {name: self._new(name) for name in worker.snapshot.clusters}

    def _new(self, name: str) -> Served:
        return Served(name, self._worker, self._opened, self._tell)

    def __iter__(self) -> Iterator[Served]:
        return iter(self._by_name.values())

    @property
    def is_open(self) -> bool:
        """Are all bootstrap ports open?"""
        return all(served.is_open for served in self)

    def upstream(self, cluster: str) -> Upstream | None:
        """The brokers of this cluster. None if it is not served any more."""
        served = self._by_name.get(cluster)
        return None if served is None else served.upstream

    def learn(self, learned: Learned) -> None:
        """Take in a broker that another worker saw."""
        served = self._by_name.get(learned.cluster)
        if served is not None:
            served.exposure.learn(learned)

    async def start(self, nursery: trio.Nursery) -> None:
        """Serve them in this nursery."""
        self._nursery = nursery
        for served in self:
            await nursery.start(served.run)

    def close_gone(self) -> set[Topology]:
        """Close the listeners that are not in force any more. Returns the topologies that their clients have."""
        gone: set[Topology] = set()
        for name, served in tuple(self._by_name.items()):
            if name in self._worker.snapshot.clusters:
                gone.update(served.close_gone())
            else:
                gone.update(served.end())
                del self._by_name[name]
        return gone

    async def open_new(self) -> None:
        """Open the listeners that came into force."""
        for name in self._worker.snapshot.clusters:
            if name in self._by_name:
                await self._by_name[name].open_new()
            else:
                self._by_name[name] = self._new(name)
                await self._nursery.start(self._by_name[name].run)
