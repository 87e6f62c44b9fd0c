"""Exposure: the brokers of one cluster and the ports on which clients reach them, kept in step.

Rules:
* No port is open before the brokers are known: until then clients are refused, as by a broker that is down.
* The port of a broker opens when the broker is learned, whoever learned it: discovery, the rewriting of an answer, or
  another worker. What one listener of a cluster learns, all of them do, in all workers: a client that was told of a
  broker by one may come to another. What another worker told is not told again.
* A port is given back when discovery did not find its broker for ten minutes and no client is there. The broker has the
  same one when it comes back.
* What brokers and workers say is never a reason to end: nothing here raises for it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial

import trio

from proxy.core.topology import Broker, Endpoint, RefusedBroker, Topology
from proxy.net.broker_ports import BrokerPorts, say_error, say_info
from proxy.net.channel import Learned
from proxy.net.listeners import Listener
from proxy.net.tasks import Tasks

GIVE_BACK_AFTER = 600.0  # seconds
WAY_OUT = "correct its advertised.listeners; until then clients are told nobody's address"

Tell = Callable[[Learned], None]


class Exposure(BrokerPorts):
    """What stands in front of one cluster. `tell`: other workers learn by it of brokers that clients were told of."""

    def __init__(
        self,
        cluster: str,
        listeners: Sequence[Listener],
        most: int,
        tasks: Tasks,
        tell: Tell | None = None,
    ) -> None:
        super().__init__(cluster, tasks)
        self.ask_again: Callable[[], None] = lambda: None  # called where discovery has something to find out
        self.in_use: Callable[[], Container[int | None]] = lambda: ()  # brokers that clients are connected to
        self._known: dict[int, Endpoint] = {}  # also while there is no listener
        self._gone: dict[int, float] = {}  # since when discovery does not find a broker
        self._most = most
        self._tell = tell
        self._opened = False
        self._early: dict[int, Learned] = {}  # what others learned before that
        self._learning = False  # all are being told of a broker
        self._news = False  # it was new to one of them
        for listener in listeners:
            self.add(listener)

    def add(self, listener: Listener) -> None:
        """One more listener: it learns what others knew."""
        self.listeners += (listener,)
        self.waiting[listener.name] = trio.lowlevel.ParkingLot()
        listener.lost = partial(self._lost, listener)
        appeared, moved = partial(self._appeared, listener), partial(self._moved, listener)
        self.topologies[listener.name] = Topology(listener.advertise, appeared, moved, self._refused, self._most)
        for node_id, real in tuple(self._known.items()):
            self._learn(node_id, real)

    def remove(self, listener: Listener) -> None:
        """One is gone."""
        self.listeners = tuple(each for each in self.listeners if each is not listener)
        del self.topologies[listener.name], self.waiting[listener.name]

    def limit(self, most: int) -> None:
        """So many brokers may be learned."""
        self._most = most
        for topology in self.topologies.values():
            topology.most = most

    def discovered(self, brokers: Mapping[int, Endpoint]) -> dict[int, Endpoint]:
        """Discovery found these. Gives those that can be reached by clients."""
        if brokers:  # none: they answer only whom they know
            self._give_back(brokers)
        for node_id, real in brokers.items():
            if self._learn(node_id, real):
                self._spread(node_id, real)
        for listener in self.listeners:
            for node_id in tuple(listener.missing):
                self._open(listener, node_id)
        known = [topology.brokers for topology in self.topologies.values()]
        return {n: real for n, real in brokers.items() if all(n in each and each[n].real == real for each in known)}

    def learn(self, learned: Learned) -> None:
        """Another worker saw a broker."""
        if self._opened:
            self._learn(learned.node_id, Endpoint(learned.host, learned.port))
        elif learned.node_id in self._early or len(self._early) < self._most:
            self._early[learned.node_id] = learned

    def _began(self) -> None:
        """From now on what others learn is learned here."""
        self._opened = True
        while self._early:
            self.learn(self._early.popitem()[1])

    def _learn(self, node_id: int, real: Endpoint) -> bool:
        """Who stands in front of this cluster learns it. True: it was news to somebody."""
        self._learning, self._news = True, False
        try:
            for topology in self.topologies.values():
                topology.learn(node_id, *real)
        finally:
            self._learning = False
        return self._news

    def _share(self, broker: Broker) -> None:
        """A broker is new here. Where a client was told of it, the others in front of the cluster hear of it too."""
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
        """A broker was learned: its port is open when this returns."""
        self._share(broker)
        self._open(listener, broker.node_id)

    def _moved(self, listener: Listener, broker: Broker) -> None:
        self._say(say_info, "broker moved", broker.node_id, to=str(broker.real))
        self._share(broker)

    def _refused(self, refused: RefusedBroker) -> None:
        if refused.over:
            self._counters.over_brokers += 1
            self._say(
                say_error, "too many brokers", None, why=refused.why, way_out="raise limits.brokers if it is right"
            )
        else:
            self._counters.unusable_brokers += 1
            self._say(say_error, "broker cannot be used", refused.node_id, why=refused.why, way_out=WAY_OUT)

    def _give_back(self, brokers: Container[int]) -> None:
        """Close the ports of those that discovery did not find for a while, if no client is there."""
        now = trio.current_time()
        known = {node_id for topology in self.topologies.values() for node_id in topology.brokers}
        self._gone = {node_id: self._gone.get(node_id, now) for node_id in known if node_id not in brokers}
        due = [node_id for node_id, since in self._gone.items() if now - since >= GIVE_BACK_AFTER]
        in_use = self.in_use() if due else ()
        for node_id in due:
            if node_id not in in_use:
                self._forget(node_id)

    def _forget(self, node_id: int) -> None:
        del self._gone[node_id]
        self._known.pop(node_id, None)
        for listener in self.listeners:
            listener.close(node_id)
            if node_id in self.topologies[listener.name].brokers:
                self.topologies[listener.name].forget(node_id)
        self._say(say_info, "port given back", node_id, why=f"discovery found no such broker for {GIVE_BACK_AFTER:g} s")
