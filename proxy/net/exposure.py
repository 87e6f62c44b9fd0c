"""Exposure: keeps the brokers of one cluster and the ports on which clients reach them in step.

Rules:
* No port is open before the brokers are known. Until then clients are refused, as by a broker that is down.
* The port of a broker opens when the broker is learned of: from discovery, from the rewriting of a response, or from
  another worker. What one listener of a cluster learns, all its listeners learn, in all workers: a client that was told
  of a broker by one may come to another. News from another worker is not passed on, but discovery is asked to run.
* A port is closed when discovery has not found its broker for ten minutes and no client uses it. The broker gets the
  same port when it comes back.
* A faulty broker can tell of a thousand brokers at once. Their ports open and close in slices; others run in between.
* Nothing here raises because of what brokers and workers say.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial

import structlog
import trio

from proxy.core.topology import Broker, Endpoint, RefusedBroker, Topology
from proxy.net.broker_ports import BrokerPorts
from proxy.net.channel import Learned
from proxy.net.listeners import Listener
from proxy.net.taken_ports import TakenPorts
from proxy.net.tasks import Tasks
from proxy.net.time_slices import TimeSlice

log = structlog.get_logger()

GIVE_BACK_AFTER = 600.0  # seconds
WAY_OUT = "correct its advertised.listeners; until then clients are told nobody's address"

TellLearned = Callable[[Learned], None]


class Exposure(BrokerPorts):
    """The brokers and ports of one cluster. `tell` sends other workers the brokers that clients were told of."""

    def __init__(
        self,
        cluster: str,
        listeners: Sequence[Listener],
        most: int,
        tasks: Tasks,
        taken: TakenPorts,
        tell: TellLearned | None = None,
    ) -> None:
        super().__init__(cluster, tasks, taken)
        self.ask_again: Callable[[], None] = lambda: None  # asks discovery to run
        self.in_use: Callable[[], Container[int | None]] = lambda: ()  # brokers that clients are connected to
        self._known: dict[int, Endpoint] = {}  # kept even while there is no listener
        self._gone: dict[int, float] = {}  # by broker: since when discovery has not found it
        self._most = most
        self._tell = tell
        self._opened = False
        self._early: dict[int, Learned] = {}  # what others learned before the ports were open
        self._learning = False  # while all topologies are told of a broker
        self._news = False  # whether it was new to one of them
        for listener in listeners:
            self.add(listener)

    def add(self, listener: Listener) -> None:
        """Add a listener. It learns what the others know."""
        self.listeners += (listener,)
        self.waiting[listener.name] = trio.lowlevel.ParkingLot()
        listener.lost = partial(self._lost, listener)
        appeared, moved = partial(self._appeared, listener), partial(self._moved, listener)
        self.topologies[listener.name] = Topology(listener.advertise, appeared, moved, self._refused, self._most)
        for node_id, real in tuple(self._known.items()):
            self._learn(node_id, real)

    def remove(self, listener: Listener) -> None:
        """Remove a listener."""
        self.listeners = tuple(each for each in self.listeners if each is not listener)
        del self.topologies[listener.name], self.waiting[listener.name]

    def limit(self, most: int) -> None:
        """Set how many brokers may be known. If more may be, discovery finds those that were too many."""
        if most > self._most:
            self.ask_again()
        self._most = most
        for topology in self.topologies.values():
            topology.most = most

    async def discovered(self, brokers: Mapping[int, Endpoint]) -> dict[int, Endpoint]:
        """Take in the brokers that discovery found. Returns those that clients can reach."""
        if brokers:  # there are none if brokers require authentication that we lack
            await self._give_back(brokers)
        brokers, working = self._without_endless(brokers), TimeSlice()
        for node_id, real in brokers.items():
            if self._learn(node_id, real):
                self._spread(node_id, real)
            await working.let_others_run()
        await self.open_missing()
        known = [topology.brokers for topology in self.topologies.values()]
        return {n: real for n, real in brokers.items() if all(n in each and each[n].real == real for each in known)}

    def _without_endless(self, brokers: Mapping[int, Endpoint]) -> Mapping[int, Endpoint]:
        """The known brokers, as many others as the limit allows, and one more, which is logged. The rest is counted."""
        others = [node_id for node_id in brokers if node_id not in self._known]
        beyond = set(others[self._most + 1 :])
        self._counters.over_brokers += len(beyond) * len(self.topologies)
        return {n: real for n, real in brokers.items() if n not in beyond} if beyond else brokers

    def learn(self, learned: Learned) -> None:
        """Take in a broker that another worker saw."""
        if self._opened:
            self._early.pop(learned.node_id, None)  # older news
            if self._learn(learned.node_id, Endpoint(learned.host, learned.port)):
                self.ask_again()
        elif learned.node_id in self._early or len(self._early) < self._most:
            self._early[learned.node_id] = learned

    async def _began(self) -> None:
        """The bootstrap ports are open: take in what others have learned."""
        self._opened, working = True, TimeSlice()
        while self._early:
            self.learn(self._early.popitem()[1])
            await working.let_others_run()

    def _learn(self, node_id: int, real: Endpoint) -> bool:
        """Tell all topologies of a broker. Returns whether it was new to one of them."""
        self._learning, self._news = True, False
        try:
            for topology in self.topologies.values():
                topology.learn(node_id, *real)
        finally:
            self._learning = False
        return self._news

    def _share(self, broker: Broker) -> None:
        """A broker is new. If a client was told of it, tell all listeners and the other workers too."""
        self._news = True
        self._known[broker.node_id] = broker.real
        if not self._learning:
            self._learn(broker.node_id, broker.real)
            self._spread(broker.node_id, broker.real)
            self.ask_again()

    def _spread(self, node_id: int, real: Endpoint) -> None:
        if self._tell is not None:
            self._tell(Learned(self.cluster, node_id, *real))

    def _appeared(self, listener: Listener, broker: Broker) -> None:
        """A topology learned of a broker. Its port is open when this returns."""
        self._share(broker)
        self._open(listener, broker.node_id)

    def _moved(self, listener: Listener, broker: Broker) -> None:
        self._say(log.info, "broker moved", broker.node_id, to=str(broker.real))
        self._share(broker)

    def _refused(self, refused: RefusedBroker) -> None:
        if refused.over:
            self._counters.over_brokers += 1
            self._say(
                log.error, "too many brokers", None, why=refused.why, way_out="raise limits.brokers if it is right"
            )
        else:
            self._counters.unusable_brokers += 1
            self._say(log.error, "broker cannot be used", refused.node_id, why=refused.why, way_out=WAY_OUT)

    async def _give_back(self, brokers: Container[int]) -> None:
        """Close the ports of brokers that discovery has not found for a while, if no client uses them."""
        now = trio.current_time()
        known = {node_id for topology in self.topologies.values() for node_id in topology.brokers}
        self._gone = {node_id: self._gone.get(node_id, now) for node_id in known if node_id not in brokers}
        due = [node_id for node_id, since in self._gone.items() if now - since >= GIVE_BACK_AFTER]
        in_use, working = self.in_use() if due else (), TimeSlice()
        for node_id in due:
            if node_id not in in_use:
                self._forget(node_id)
            await working.let_others_run()

    def _forget(self, node_id: int) -> None:
        del self._gone[node_id]
        self._known.pop(node_id, None)
        for listener in self.listeners:
            listener.close(node_id)
            if node_id in self.topologies[listener.name].brokers:
                self.topologies[listener.name].forget(node_id)
        self._say(log.info, "port given back", node_id, why=f"discovery found no such broker for {GIVE_BACK_AFTER:g} s")
