"""Fronts: the listeners in front of one cluster, as the snapshot in force has them.

Rules:
* If a listener's address or cluster changes, it is replaced: the old one closes, and its connections drain. If only its
  advertised host changes, it stays.
* New TLS of a listener that stays knows the brokers at once: clients ask for brokers by name while the hosts of new
  listeners are looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import trio

from proxy.config import ListenerOptions
from proxy.core.topology import Endpoint, Topology
from proxy.net.arrivals import Arrivals
from proxy.net.exposure import Exposure
from proxy.net.listeners import Listener
from proxy.net.upstream import Upstream
from proxy.net.worker_parts import WorkerParts


class Front(NamedTuple):
    """A listener, and the settings that it cannot change."""

    listener: Listener
    place: object  # if this changes, it is another listener


class Fronts:
    """The listeners of one cluster. `shared`: other workers listen on the same ports."""

    def __init__(
        self, worker: WorkerParts, exposure: Exposure, upstream: Callable[[], Upstream], *, shared: bool
    ) -> None:
        self._worker = worker
        self._exposure = exposure
        self._upstream = upstream
        self._shared = shared
        self._fronts: dict[str, Front] = {}

    @property
    def are_open(self) -> bool:
        """Are all bootstrap ports open?"""
        wanted = self._wanted().keys()
        return wanted == self._fronts.keys() and all(front.listener.is_open for front in self._fronts.values())

    def _wanted(self) -> dict[str, ListenerOptions]:
        listeners = self._worker.snapshot.config.listeners
        return {name: declared for name, declared in listeners.items() if declared.cluster == self._exposure.cluster}

    async def open_new(self, nursery: trio.Nursery) -> None:
        """Open the listeners that are new in the snapshot. They serve in this nursery."""
        for name, declared in self._wanted().items():
            if name in self._fronts:
                self._tell_host(self._fronts[name].listener, declared)
            else:
                await self._add(name, declared, nursery)
                self._tell_brokers(name)

    def close_all(self) -> list[Topology]:
        """Close all listeners, since the cluster is gone. Returns the topologies that their clients have."""
        return [self._remove(front) for front in tuple(self._fronts.values())]

    def close_gone(self) -> list[Topology]:
        """Close listeners that were removed or replaced. Returns the topologies that their clients have."""
        wanted = {name: self._place(declared) for name, declared in self._wanted().items()}
        going = [front for name, front in self._fronts.items() if wanted.get(name) != front.place]
        gone = [self._remove(front) for front in going]
        for name in self._fronts:
            self._tell_brokers(name)
        return gone

    def _remove(self, front: Front) -> Topology:
        listener = front.listener
        del self._fronts[listener.name]
        self._worker.listeners.remove(listener)
        topology = self._exposure.topologies[listener.name]
        listener.shut()
        self._exposure.remove(listener)
        return topology

    async def _add(self, name: str, declared: ListenerOptions, nursery: trio.Nursery) -> None:
        worker, hosts = self._worker, declared.tls.hosts if declared.tls else None
        bind, host = Endpoint(*declared.bind), declared.advertised_host
        listener = Listener(
            name, bind, host, worker.tasks, worker.listeners, shared=self._shared, hosts=hosts, taken=worker.taken
        )
        await listener.look_up()
        await nursery.start(listener.serve)
        worker.listeners.append(listener)
        self._exposure.add(listener)
        listener.acceptor.accepted = Arrivals(listener, self._exposure, self._upstream, worker).accepted
        self._fronts[name] = Front(listener, self._place(declared))

    def _place(self, declared: ListenerOptions) -> object:
        return declared.bind, declared.tls.hosts if declared.tls else None

    def _tell_brokers(self, name: str) -> None:
        tls = self._worker.snapshot.listeners[name].tls
        if tls is not None:
            tls.brokers = self._exposure.topologies[name].brokers

    def _tell_host(self, listener: Listener, declared: ListenerOptions) -> None:
        topology = self._exposure.topologies[listener.name]
        listener.advertise_as(declared.advertised_host)
        for node_id in topology.brokers:
            topology.readvertise(node_id)
