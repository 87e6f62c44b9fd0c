"""Broker ports: the ports on which clients reach the brokers of one cluster, at each of its listeners.

Rules:
* A port that cannot be opened is an error in the log, and is tried again: that of a broker at each discovery, and when
  another configuration comes, since a listener may have left it. It delays no other port. Until it is open, clients are
  given an address at which nobody answers.
* Log lines about a broker are rate-limited, since a faulty broker can invent as many brokers as it likes. Lines about
  taken ports come a little later (`taken_ports.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial

import structlog
import trio

from proxy.core.topology import Topology
from proxy.net.bind import BindError, PortTakenError
from proxy.net.complaints import Write
from proxy.net.listeners import Listener
from proxy.net.taken_ports import TakenPorts
from proxy.net.tasks import Tasks
from proxy.net.time_slices import TimeSlice

log = structlog.get_logger()

FIRST_RETRY = 0.5
LAST_RETRY = 15.0


class BrokerPorts(ABC):
    """The ports for one cluster. `waiting`: by listener, clients that wait for their broker's port."""

    def __init__(self, cluster: str, tasks: Tasks, taken: TakenPorts) -> None:
        self.cluster = cluster
        self.listeners: tuple[Listener, ...] = ()
        self.topologies: dict[str, Topology] = {}
        self.waiting: dict[str, trio.lowlevel.ParkingLot] = {}
        self.closing = False  # no more ports are opened
        self.opened: Callable[[], None] = lambda: None  # called if bootstrap ports are open, as far as possible
        self._counters = tasks.counters
        self._complaints = tasks.complaints
        self._taken = taken

    @abstractmethod
    async def _began(self) -> None:
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
                    facts = {"listener": listener.name, "retry_in": f"{pause:g}s"}
                    self._say_why("bootstrap port not opened", None, error, **facts)
            await self._began()
            if any(not each.is_open for each in self.listeners):
                self.opened()
                await trio.sleep(pause)
                pause = min(pause * 2, LAST_RETRY)
                for listener in self.listeners:
                    if not listener.is_open:
                        await listener.look_up()

    async def open_missing(self) -> None:
        """Try again to open the ports of brokers that could not be opened."""
        working = TimeSlice()
        for listener in self.listeners:
            for node_id in tuple(listener.missing):
                if node_id in listener.missing:
                    self._open(listener, node_id)
                await working.let_others_run()

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
            self._say_why("no port for a broker", node_id, error, listener=listener.name)
        self.waiting[listener.name].unpark_all()
        if node_id in listener.missing or was_missing:
            topology.readvertise(node_id)

    def _lost(self, listener: Listener, node_id: int) -> None:
        """Another listener of this proxy took the port of a broker."""
        self._counters.closed_ports += 1
        self._say(
            log.error, "no port for a broker", node_id, listener=listener.name, why="another listener needs the port"
        )
        if node_id in self.topologies[listener.name].brokers:
            self.topologies[listener.name].readvertise(node_id)

    def _say_why(self, event: str, node_id: int | None, error: BindError, **facts: object) -> None:
        """Log a port that cannot be opened, rate-limited."""
        if isinstance(error, PortTakenError):
            self._say(partial(self._taken.tell, error), event, node_id, **facts)
        else:
            self._say(log.error, event, node_id, why=str(error), **facts)

    def _say(self, write: Write, event: str, node_id: int | None, **facts: object) -> None:
        """Log an event about a broker, rate-limited."""
        which = {} if node_id is None else {"broker": node_id}
        about = self.cluster, facts.get("listener")
        self._complaints.tell(write, event, about, node_id, cluster=self.cluster, **which, **facts)
