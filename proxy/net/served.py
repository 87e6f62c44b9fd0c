"""Served: one cluster with all that a worker puts in front of it: listeners (`fronts.py`), and discovery.

Rules:
* Clusters share only the reactor and the limits. A problem with one delays no other, neither at the start nor later.
  Whatever runs for a cluster is a task of its own.
* The ports of a cluster open when its brokers are known.
* If the bootstrap addresses, `via`, TLS or SASL of a cluster change, it is discovered anew. Open connections stay,
  but what brokers say on them moves no broker any more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

import trio

from proxy.core.topology import Endpoint, Topology
from proxy.net.cluster_access import ClusterAccess
from proxy.net.exposure import Exposure, TellLearned
from proxy.net.fronts import Fronts
from proxy.net.loops import Loops
from proxy.net.upstream import Upstream
from proxy.net.worker_parts import WorkerParts

if TYPE_CHECKING:
    from proxy.net.fetching import FetchedToken


class Served:
    """One cluster. `opened` is called each time that bootstrap ports have opened."""

    def __init__(
        self, name: str, worker: WorkerParts, opened: Callable[[], None], tell: TellLearned | None = None
    ) -> None:
        self.name = name
        self._worker = worker
        self._opened = opened
        self._serving = trio.CancelScope()
        self._following = trio.CancelScope()
        self._news = trio.Event()  # set when there is a port to open
        self.exposure = Exposure(
            name, (), worker.snapshot.config.limits.brokers, worker.tasks, worker.taken_ports, tell
        )
        self.exposure.in_use = self._in_use
        self.exposure.opened = opened
        self._fronts = Fronts(worker, self.exposure, lambda: self.upstream, shared=tell is not None)
        self._discovered_by = self._way
        self.upstream: Upstream = self._upstream()

    @property
    def _way(self) -> object:
        """The settings that discovery depends on."""
        snapshot = self._worker.snapshot
        declared, cluster = snapshot.config.clusters[self.name], snapshot.clusters[self.name]
        return declared.bootstrap, declared.via, cluster.identity, cluster.tls

    @property
    def is_open(self) -> bool:
        """Are all bootstrap ports open?"""
        return self._fronts.are_open

    # Discovery.

    def _upstream(self) -> Upstream:
        snapshot, worker = self._worker.snapshot, self._worker
        cluster = snapshot.clusters[self.name]
        declared = snapshot.config.clusters[self.name]
        bootstrap, via = [Endpoint(*address) for address in declared.bootstrap], declared.detours
        loops = Loops(self.name, worker.mark, worker.listeners, worker.tasks, via)
        identities = cluster.identity.identities if cluster.identity else None
        seconds = snapshot.config.limits.dial
        access = ClusterAccess(self.name, seconds, identities, cluster.tls, loops, self._beside, via)
        upstream = Upstream(access, bootstrap, self.exposure.discovered, worker.counters, worker.complaints)
        self.exposure.ask_again = upstream.ask_again
        return upstream

    def _in_use(self) -> set[int | None]:
        links = (conversation.link for conversation in self._worker.reactor.conversations)
        return {link.connection.broker_id for link in links if link.connection.cluster == self.name}

    def _beside(self, do: Callable[[], Awaitable[None]]) -> None:
        """Run this in the background."""

        async def contained() -> None:
            with self._worker.tasks.contained("asking through a broker's address"):
                await do()

        self._worker.dialling.start_soon(contained)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled or ended. Then no port is open."""
        try:
            with self._serving:
                async with trio.open_nursery() as self._nursery:
                    await self.open_new()
                    task_status.started()
                    while True:
                        with trio.CancelScope() as self._following:
                            await self._follow(self.upstream)
        finally:
            self.exposure.closing = True

    async def _follow(self, upstream: Upstream) -> None:
        """Discover the brokers until the upstream is replaced."""
        tasks = self._worker.tasks
        identity = self._worker.snapshot.clusters[self.name].identity
        async with trio.open_nursery() as nursery:
            if identity is not None and identity.token is not None:
                tried = trio.Event()
                nursery.start_soon(tasks.keep, "renewing a token", partial(_renew, identity.token, tried))
                await tried.wait()
            nursery.start_soon(tasks.keep, "discovering brokers", upstream.watch)
            await upstream.known.wait()
            while True:
                self._news = trio.Event()
                await tasks.keep("opening ports", self.exposure.open)
                self._opened()
                await self._news.wait()

    # Another snapshot.

    def end(self) -> list[Topology]:
        """End the cluster. Returns the topologies that clients of its listeners have."""
        self.exposure.closing = True
        self._serving.cancel()
        return self._fronts.close_all()

    def close_gone(self) -> list[Topology]:
        """Close listeners that were removed or replaced. Returns the topologies that their clients have."""
        return self._fronts.close_gone()

    async def open_new(self) -> None:
        """Bring the cluster to the snapshot in force: open new listeners, and discover anew if the settings changed."""
        limits = self._worker.snapshot.config.limits
        self.exposure.limit(limits.brokers)
        await self._fronts.open_new(self._nursery)
        await self.exposure.open_missing()
        if self._discovered_by != self._way:
            self._discovered_by = self._way
            self.upstream.reached_by.is_former = True
            self.upstream = self._upstream()
            self._following.cancel()
        self.upstream.access.seconds = limits.dial
        self._news.set()


async def _renew(token: FetchedToken, tried: trio.Event) -> None:
    async with trio.open_nursery() as nursery:
        try:
            await nursery.start(token.watch)
        finally:
            tried.set()
