"""Gateway: one worker with its clusters, reactor and limits, from the first port to the last response.

Rules:
* The ports of a cluster open as soon as its brokers are known, and `started` is called at once.
* Drain: no port accepts, and requests in flight are answered. After `limits.drain` the rest is cut.
* Nothing that a broker, a client, a file or another worker says ends the gateway. What fails outside a link is a task,
  which is started again (`tasks.py`). Only what prevents its start ends it (StartError).
* One snapshot is in force. Another may take its place at any time (`changing.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import trio

from proxy.config import Config
from proxy.core.limits import Counters as LinkCounters
from proxy.net.applying import Applying
from proxy.net.asking import new_mark
from proxy.net.budget import TLS
from proxy.net.changing import Changing
from proxy.net.channel import Learned
from proxy.net.complaints import Complaints
from proxy.net.connected import connected
from proxy.net.conversation import Conversation
from proxy.net.draining import Draining
from proxy.net.exposure import TellLearned
from proxy.net.limits import enforce
from proxy.net.machine import memory_of_worker
from proxy.net.plugin_host import PluginHost
from proxy.net.process import DrainResult, Started
from proxy.net.reactor import Reactor
from proxy.net.reporting import report
from proxy.net.resolving import Resolver
from proxy.net.served_clusters import ServedClusters
from proxy.net.shared_rows import SharedTable
from proxy.net.snapshot import GatewaySnapshot
from proxy.net.snapshot_builder import build
from proxy.net.states import WorkerStates
from proxy.net.tasks import Tasks
from proxy.net.telling import Telling
from proxy.net.watching import watch
from proxy.net.worker_parts import WorkerParts
from proxy.telemetry.counters import NetworkCounters
from proxy.telemetry.report import Report, Reports


class Gateway:
    """All work of one worker.

    `tell`: other workers listen on the same ports, and are told of brokers by it. They share `mark`: see `loops.py`.
    `number`: the number of this worker. `table`: numbers that all workers count together. `states`: the states that
    plugins took while the proxy ran. `taken`: listeners that are not opened before `free` (`claiming.py`).
    """

    def __init__(
        self,
        config: Config,
        *,
        tell: TellLearned | None = None,
        mark: str | None = None,
        number: int = 0,
        states: Mapping[str, Any] | None = None,
        table: SharedTable | None = None,
        taken: Collection[str] = (),
    ) -> None:
        self.counters = NetworkCounters()
        self.link_counters = LinkCounters()
        self.ending = DrainResult("connections")
        complaints = Complaints()
        self._telling = Telling(complaints)
        self.tasks = Tasks(self.counters, complaints)
        self._reactor = Reactor(self._ended, self._telling, complaints, memory_of_worker(config))
        self._draining = Draining(self._reactor, self.counters)
        self._accepting = trio.CancelScope()
        host = PluginHost(number, self._reactor.clock, self.tasks, states, table)
        mark = mark or new_mark()
        self._worker = WorkerParts(
            build(config, None, host, mark, shared=tell is not None),
            self._reactor,
            self.tasks,
            self.counters,
            self.link_counters,
            complaints,
            mark,
            host,
            set(taken),
        )
        self._clusters = ServedClusters(self._worker, self._say_when_open, tell)
        self._changing = Changing(self._worker, self._draining, self._clusters, shared=tell is not None)
        self._applying = Applying(self._worker, self._changing)
        host.upstream = self._clusters.upstream
        host.authority = lambda listener: self.snapshot.authority(listener)
        host.identities = lambda cluster: self.snapshot.identities(cluster)
        self.states = WorkerStates(self._worker, self._applying.lock, self._keep_up)

    @property
    def snapshot(self) -> GatewaySnapshot:
        """The snapshot in force."""
        return self._worker.snapshot

    @property
    def config(self) -> Config:
        """The configuration that is in force."""
        return self.snapshot.config

    @property
    def ready(self) -> bool:
        """Are the ports of all clusters open?"""
        return not self._accepting.cancel_called and self._clusters.is_open

    def stop(self) -> None:
        """Accept no more, finish the requests in flight, and let `run` return."""
        self._changing.stop()
        self._accepting.cancel()

    async def run(self, started: Started) -> None:
        """Serve until `stop`. `started` is called each time that the ports of a cluster have opened."""
        self._started: Started = started
        keep = self.tasks.keep
        trio.socket.set_custom_hostname_resolver(Resolver())
        async with trio.open_nursery() as nursery:
            await nursery.start(self._reactor.run)
            limits = partial(enforce, lambda: self._worker.limits, self._reactor.conversations, self.counters)
            nursery.start_soon(keep, "enforcing limits", limits)
            files = partial(watch, lambda: self.snapshot.watched, self.tasks, self._worker.forget, self._keep_up)
            nursery.start_soon(keep, "watching files", files)
            nursery.start_soon(keep, "watching what is held", self._reactor.budget.watch)
            nursery.start_soon(keep, "summing up complaints", self._worker.complaints.watch)
            nursery.start_soon(keep, "telling of taken ports", self._worker.taken_ports.watch)
            with self._accepting:
                async with trio.open_nursery() as self._worker.dialling:
                    await self._changing.run(nursery)
            await self._draining.drain_all(self._worker.limits.drain, self.ending)
            self._worker.complaints.sum_up()
            nursery.cancel_scope.cancel()

    async def prepare(self, config: Config) -> GatewaySnapshot:
        """Build a configuration's snapshot. If it raises StartError, with all reasons, nothing has changed."""
        return await self._changing.prepare(config)

    def forget(self, snapshot: GatewaySnapshot) -> None:
        """Drop a snapshot that was prepared."""
        self._changing.forget(snapshot)

    async def put(self, snapshot: GatewaySnapshot) -> None:
        """Put the snapshot in force that was prepared last. Raises StartError if the proxy ends."""
        await self._changing.put(snapshot)

    async def apply(self, config: Config) -> None:
        """Put a configuration in force without a break. If it raises StartError, nothing has changed."""
        await self._applying.apply(config)

    async def _keep_up(self) -> None:
        if not self._accepting.cancel_called:
            await self._applying.keep_up()

    def _say_when_open(self) -> None:
        with self.tasks.contained("saying that ports are open"):
            self._started(self.report())

    def free(self, listener: str) -> None:
        """Nobody else has the ports of this listener any more."""
        self._worker.taken.discard(listener)

    def learn(self, learned: Learned) -> None:
        """Take in a broker that another worker saw."""
        self._clusters.learn(learned)

    def _ended(self, conversation: Conversation, reason: str | None) -> None:
        """Note that a link is over. Its sockets are closed."""
        self.counters.open -= 1
        self.counters.ended_by_fault += reason is not None and conversation.is_fault
        self._draining.ended(conversation)
        if conversation.link.connection.tls is not None:
            self._reactor.budget.spare.freed(TLS)
        with self.tasks.contained("telling of an end"):
            self._telling.ended(conversation, reason)

    def cut(self) -> None:
        """End the connections that are still open, while plugins are there to be told of it, and hurry the plugins."""
        for conversation in tuple(self._reactor.conversations):
            self.ending.cut += 1
            self._reactor.end(conversation, "the proxy ends at once")
        self._worker.host.cut()

    async def reports(self) -> Reports:
        """The report of this worker, which is the only one."""
        return {0: self.report()}

    async def connections(self, limit: int) -> list[dict[str, Any]]:
        """The open connections of this worker, at most `limit`."""
        return [connected(self._reactor.conversations, self._worker.host.worker, limit)]

    def report(self) -> Report:
        """The report of this worker."""
        return report(self._worker, self._clusters, self._changing.counted(), is_ready=self.ready)
