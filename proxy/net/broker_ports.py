"""Broker ports: those on which clients reach the brokers of one cluster, at each of its listeners.

Rules:
* A port that cannot be had is an error in the log, and tried again: it holds up no other. Until then clients are told
  nobody's address.
* What is said of a broker is a line in the log, throttled: a broker that goes mad can invent as many as it likes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import structlog
import trio

from proxy.core.topology import Topology
from proxy.net.bind import BindError
from proxy.net.complaints import Write
from proxy.net.listeners import Listener
from proxy.net.tasks import Tasks

log = structlog.get_logger()

FIRST_RETRY = 0.5
LAST_RETRY = 15.0


class BrokerPorts(ABC):
    """Those in front of one cluster. `waiting`: clients of brokers that are still to come, by listener."""

    def __init__(self, cluster: str, tasks: Tasks) -> None:
        self.cluster = cluster
        self.listeners: tuple[Listener, ...] = ()
        self.topologies: dict[str, Topology] = {}
        self.waiting: dict[str, trio.lowlevel.ParkingLot] = {}
        self.closing = False  # no port is opened any more
        self._counters = tasks.counters
        self._complaints = tasks.complaints

    @abstractmethod
    def _began(self) -> None:
        """Ports are open where clients begin, as far as they could be had."""

    async def open(self) -> None:
        """Open the ports where clients begin; those that cannot be had are tried until they can."""
        pause = FIRST_RETRY
        while any(not each.is_open for each in self.listeners):
            for listener in self.listeners:
                try:
                    listener.open_bootstrap()
                except BindError as error:
                    self._counters.closed_ports += 1
                    facts = {"listener": listener.name, "why": error, "retry_in": f"{pause:g}s"}
                    self._say(say_error, "no port to begin at", None, **facts)
            self._began()
            if any(not each.is_open for each in self.listeners):
                await trio.sleep(pause)
                pause = min(pause * 2, LAST_RETRY)

    def _open(self, listener: Listener, node_id: int) -> None:
        """Open the port of a broker, if it can be had."""
        if self.closing or listener.is_shut:
            return  # an answer on its way out while the proxy, or its listener, ends
        topology = self.topologies[listener.name]
        was_missing = node_id in listener.missing
        try:
            listener.open(node_id)
        except BindError as error:
            self._counters.closed_ports += not was_missing
            self._say(say_error, "no port for a broker", node_id, listener=listener.name, why=error)
        self.waiting[listener.name].unpark_all()
        if node_id in listener.missing or was_missing:
            topology.readvertise(node_id)

    def _lost(self, listener: Listener, node_id: int) -> None:
        """Another listener of this proxy took the port of a broker."""
        self._counters.closed_ports += 1
        self._say(
            say_error, "no port for a broker", node_id, listener=listener.name, why="another listener needs the port"
        )
        if node_id in self.topologies[listener.name].brokers:
            self.topologies[listener.name].readvertise(node_id)

    def _say(self, write: Write, event: str, node_id: int | None, **facts: object) -> None:
        """Once in a while about each broker."""
        which = {} if node_id is None else {"broker": node_id}
        about = self.cluster, facts.get("listener")
        self._complaints.tell(write, event, about, node_id, cluster=self.cluster, **which, **facts)


def say_info(event: str, **facts: object) -> None:
    """For `_say`."""
    log.info(event, **facts)


def say_error(event: str, **facts: object) -> None:
    """Put errors into words only now: it takes a while to find out who has a port."""
    log.error(event, **{name: str(fact) if isinstance(fact, Exception) else fact for name, fact in facts.items()})
