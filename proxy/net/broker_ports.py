"""Broker ports: the ports on which clients reach the brokers of one cluster, at each of its listeners.

Rules:
* A port that cannot be opened is an error in the log, and is tried again. It delays no other port. Until it is open,
  clients are given an address at which nobody answers.
* Log lines about a broker are rate-limited, since a faulty broker can invent as many brokers as it likes.
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
    """The ports for one cluster. `waiting`: by listener, clients that wait for their broker's port."""

    def __init__(self, cluster: str, tasks: Tasks) -> None:
        self.cluster = cluster
        self.listeners: tuple[Listener, ...] = ()
        self.topologies: dict[str, Topology] = {}
        self.waiting: dict[str, trio.lowlevel.ParkingLot] = {}
        self.closing = False  # no more ports are opened
        self._counters = tasks.counters
        self._complaints = tasks.complaints

    @abstractmethod
    def _began(self) -> None:
        """The bootstrap ports are open, as far as possible."""

    async def open(self) -> None:
        """Open the bootstrap ports. Those that cannot be opened are tried until they can."""
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
        """Open the port of a broker, if possible."""
        if self.closing or listener.is_shut:
            return  # a response still under way while the proxy or the listener ends
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
        """Log an event about a broker, rate-limited."""
        which = {} if node_id is None else {"broker": node_id}
        about = self.cluster, facts.get("listener")
        self._complaints.tell(write, event, about, node_id, cluster=self.cluster, **which, **facts)


def say_info(event: str, **facts: object) -> None:
    """The level info, for `_say`."""
    log.info(event, **facts)


def say_error(event: str, **facts: object) -> None:
    """The level error, for `_say`. Errors become text only here, since finding the owner of a port takes a while."""
    log.error(event, **{name: str(fact) if isinstance(fact, Exception) else fact for name, fact in facts.items()})
