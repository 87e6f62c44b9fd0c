"""Gateway: one worker. Listeners, upstreams, reactor and limits, from the first port to the last answer.

Rules:
* No port is open before the brokers are known: until then clients are refused, as by a broker that is down.
* The port of a broker opens when the broker is learned, whoever learned it: discovery, the rewriting of an answer, or
  another worker. What one listener of a cluster learns, all of them do, in all workers: a client that was told of a
  broker by one may come to another.
* Drain: no port accepts, requests in flight are answered, and after `limits.drain` what is left is cut.
* A port that cannot be had before the gateway is ready ends it (BindError); later it is an error in the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio

from plugins.address import Address
from plugins.api_versions import ApiVersions
from plugins.sasl_inspected import SaslInspected
from plugins.sasl_terminated import SaslTerminated
from proxy import logs
from proxy.auth.identity import introduce_later
from proxy.config import Config
from proxy.core.limits import Counters as LinkCounters
from proxy.core.plugin import Plugin
from proxy.core.route import Routes
from proxy.core.topology import Broker, Endpoint, Topology
from proxy.net.arrivals import Arrivals, Worker
from proxy.net.authorities import Authorities, Speakers
from proxy.net.bind import BindError
from proxy.net.channel import Learned
from proxy.net.complaints import Complaints
from proxy.net.conversation import Conversation
from proxy.net.limits import enforce
from proxy.net.listeners import Listener
from proxy.net.process import Started
from proxy.net.reactor import Reactor
from proxy.net.reloading import keep_in_step
from proxy.net.telling import Telling, whose
from proxy.net.tls.brokers import BrokerTls
from proxy.net.upstream import Upstream
from proxy.telemetry.counters import Counters
from proxy.telemetry.report import Report, Reports

if TYPE_CHECKING:
    from proxy.net.tls.clients import ClientTls

log = structlog.get_logger()

Tell = Callable[[Learned], None]


class Gateway:
    """Everything that one worker does. `tell`: other workers listen on the same ports, and learn brokers by it."""

    def __init__(self, config: Config, *, tell: Tell | None = None) -> None:
        self.config = config
        self.counters = Counters()
        self.link_counters = LinkCounters()
        self.ready = False
        self._tell = tell
        self._open: set[str] = set()  # clusters whose listeners are
        self._early: list[Learned] = []  # what others learned before that
        self._complaints = Complaints()
        self._reactor = Reactor(self._ended, Telling(self._complaints), self._complaints)
        self._left = trio.Event()  # set when a link is over
        self._accepting = trio.CancelScope()
        self._listeners: dict[str, Listener] = {}
        self._topologies: dict[str, Topology] = {}  # by listener
        self._upstreams: dict[str, Upstream] = {}  # by cluster
        self._routes: dict[str, Routes] = {}  # by listener
        self._waiting: dict[str, trio.lowlevel.ParkingLot] = {}  # clients of brokers to come, by listener
        self._plugins: list[Plugin] = []  # those that the configuration names, of all clusters
        self._authorities = Authorities(config)
        self._speakers = Speakers(config)
        declared = {name: cluster.tls for name, cluster in config.clusters.items()}
        self._broker_tls = {name: BrokerTls(name, tls) for name, tls in declared.items() if tls is not None}
        self._kept = [tls.kept for tls in self._broker_tls.values()]  # files that may change
        self._missing: set[tuple[str, int]] = set()  # ports that could not be had, by listener and node id

    def stop(self) -> None:
        """Accept no more, let requests in flight be answered, and let `run` return."""
        self.ready = False
        self._accepting.cancel()

    async def run(self, started: Started) -> None:
        """Serve until `stop`; `started` is called when all ports are open. Raises BindError, in a group."""
        async with trio.open_nursery() as nursery:
            await nursery.start(self._reactor.run)
            nursery.start_soon(self._authorities.watch)
            await nursery.start(self._speakers.watch)
            nursery.start_soon(enforce, self.config.limits, self._reactor.conversations, self.counters)
            nursery.start_soon(self._complaints.watch)
            with self._accepting:
                await self._accept(started)
            await self._drain()
            self._complaints.sum_up()
            nursery.cancel_scope.cancel()

    async def _accept(self, started: Started) -> None:
        async with trio.open_nursery() as nursery:
            worker = Worker(
                self.config.limits, self._reactor, nursery, self.counters, self.link_counters, self._complaints
            )
            for name in self.config.clusters:
                self._set_up(name, worker)
            for kept in self._kept:
                nursery.start_soon(kept.watch)
            nursery.start_soon(keep_in_step, self._plugins)  # all of them are there by now
            for listener in self._listeners.values():
                await nursery.start(listener.serve)
            for upstream in self._upstreams.values():
                nursery.start_soon(upstream.watch)
            async with trio.open_nursery() as opening:
                for name in self._upstreams:
                    opening.start_soon(self._open_before, name)
            self.ready = True
            started(self.report())
            await trio.sleep_forever()

    async def _open_before(self, cluster: str) -> None:
        """Open what stands in front of a cluster, when its brokers are known: no other keeps it waiting."""
        await self._upstreams[cluster].known.wait()
        for name, listener in self._listeners.items():
            if self.config.listeners[name].cluster == cluster:
                listener.open_bootstrap()
        self._open.add(cluster)
        early, self._early = self._early, []
        for learned in early:
            self.learn(learned)

    def _set_up(self, cluster: str, worker: Worker) -> None:
        """The upstream of a cluster, and its listeners, whose ports are not open yet."""
        config = self.config
        plugins: list[Plugin] = [use.plugin(use.options) for use in config.plugins]
        self._plugins += plugins
        always = [Address(), ApiVersions(), *plugins]
        names = [name for name, listener in config.listeners.items() if listener.cluster == cluster]
        topologies = [self._topology(name) for name in names]
        bootstrap = [Endpoint(*address) for address in config.clusters[cluster].bootstrap]
        identities = self._speakers.by_cluster.get(cluster)
        tls = self._broker_tls.get(cluster)
        upstream = Upstream(
            cluster, bootstrap, topologies, config.limits.dial, self.counters, self._open_missing, identities, tls
        )
        self._upstreams[cluster] = upstream
        for name, topology in zip(names, topologies, strict=True):
            authority = self._authorities.by_listener.get(name)
            later = authority is not None and identities is not None and identities.by_client
            steps = partial(introduce_later, identities) if later and identities else None
            inspected = SaslInspected(config.clusters[cluster].principal_claim)
            sasl = inspected if authority is None else SaslTerminated(authority, steps)
            self._routes[name] = routes = Routes([sasl, *always])
            arrivals = Arrivals(
                name, topology, upstream, routes, worker, introduce_later=later, tls=self._client_tls(name, topology)
            )
            self._listeners[name].accepted = arrivals.accepted
            self._waiting[name] = arrivals.waiting

    def _client_tls(self, name: str, topology: Topology) -> ClientTls | None:
        listener = self.config.listeners[name]
        if listener.tls is None:
            return None
        from proxy.net.tls.clients import ClientTls  # reads certificates: 10 MB, only where there are any

        others = self._tell is not None
        found = ClientTls(name, listener, listener.tls, topology, self.config.limits, others=others)
        self._kept.append(found.kept)
        return found

    def _topology(self, name: str) -> Topology:
        declared = self.config.listeners[name]
        hosts = declared.tls.hosts if declared.tls else None
        listener = Listener(
            name,
            Endpoint(*declared.bind),
            declared.advertised_host,
            self._complaints,
            shared=self._tell is not None,
            hosts=hosts,
        )
        topology = Topology(listener.advertise, partial(self._appeared, listener), partial(self._moved, listener))
        self._listeners[name], self._topologies[name] = listener, topology
        return topology

    def _appeared(self, listener: Listener, broker: Broker) -> None:
        """A broker was learned: its port is open when this returns."""
        if self._accepting.cancel_called:
            return  # an answer on its way out while the proxy ends
        self._upstreams[self.config.listeners[listener.name].cluster].ask_again()
        self._spread(listener, broker)
        try:
            self._refuse_loop(broker)
            listener.open(broker.node_id)
            self._waiting[listener.name].unpark_all()
        except BindError as error:
            if self.config.listeners[listener.name].cluster not in self._open:
                raise
            if (listener.name, broker.node_id) not in self._missing:
                self._missing.add((listener.name, broker.node_id))
                log.error("no port for a broker", why=str(error), listener=listener.name, broker=broker.node_id)

    def _refuse_loop(self, broker: Broker) -> None:
        """Behind a plain TCP proxy brokers advertise the proxy. Here that would be a circle, dialled for ever."""
        if any(broker.real == listener.advertise(broker.node_id) for listener in self._listeners.values()):
            way_out = f"give broker {broker.node_id} an address of its own in its advertised.listeners"
            raise BindError(f"{broker.real}: broker {broker.node_id} advertises this address of the proxy; {way_out}")

    def _moved(self, listener: Listener, broker: Broker) -> None:
        log.info("broker moved", broker=broker.node_id, to=str(broker.real))
        self._spread(listener, broker)

    def _spread(self, listener: Listener, broker: Broker) -> None:
        """Whoever stands in front of the same cluster learns it too."""
        learned = Learned(self.config.listeners[listener.name].cluster, broker.node_id, *broker.real)
        if self._tell is not None:
            self._tell(learned)
        self.learn(learned)

    def learn(self, learned: Learned) -> None:
        """A broker was seen, here or by another worker."""
        if learned.cluster not in self._open:
            self._early.append(learned)
            return
        for name, topology in self._topologies.items():
            if self.config.listeners[name].cluster == learned.cluster:
                topology.learn(learned.node_id, learned.host, learned.port)

    def _open_missing(self) -> None:
        """Ports that could not be had may be free by now."""
        for name, node_id in tuple(self._missing):
            self._appeared(self._listeners[name], self._topologies[name].brokers[node_id])
            if node_id in self._listeners[name].ports:
                self._missing.remove((name, node_id))

    def _ended(self, conversation: Conversation, reason: str | None) -> None:
        """A link is over, and its sockets are closed."""
        self.counters.open -= 1
        self._left.set()
        facts = conversation.link.connection.facts()
        if reason is None:
            log.debug("connection closed", **facts)
        else:
            self.counters.ended_by_fault += 1
            about = facts["listener"], whose(conversation)
            self._complaints.tell(log.warning, "connection ended", about, reason, why=reason, **facts)

    async def _drain(self) -> None:
        """Let what is in flight be answered; cut what is not in time."""
        conversations, seconds = self._reactor.conversations, self.config.limits.drain
        self._reactor.drain()
        if conversations:
            log.info("draining", connections=len(conversations), within=f"{seconds:g}s")
        with trio.move_on_after(seconds):
            while conversations:
                self._left = trio.Event()
                await self._left.wait()
        self.counters.cut_by_drain += len(conversations)
        for conversation in list(conversations):
            self._reactor.end(conversation, f"not answered within {seconds:g} s (limits.drain)")

    async def reports(self) -> Reports:
        """This worker is the only one."""
        return {0: self.report()}

    def _counted(self) -> Counter[str]:
        """Requests of each API, and what plugins counted."""
        counted: Counter[str] = Counter()
        for routes in self._routes.values():
            for (api, _), count in routes.counts().items():
                counted[f"requests_{api}"] += count
        for plugin in self._plugins:
            counted.update(plugin.counts())
        return counted

    def report(self) -> Report:
        """What this worker says about itself."""
        reading = asdict(self.counters) | asdict(self.link_counters)
        reading["bytes_from_clients"] = self._reactor.bytes_from_clients
        reading["bytes_from_brokers"] = self._reactor.bytes_from_brokers
        reading["log_lines_left_out"] = self._complaints.left_out
        reading["log_lines_not_taken"] = logs.dropped()
        reading |= self._counted()
        reading["brokers"] = sum(len(upstream.brokers) for upstream in self._upstreams.values())
        clusters = {
            name: {str(node_id): str(endpoint) for node_id, endpoint in upstream.brokers.items()}
            for name, upstream in self._upstreams.items()
        }
        listening = {
            name: {str(node_id): port for node_id, port in listener.ports.items()}
            for name, listener in self._listeners.items()
        }
        return Report(self.ready, listening, clusters, reading)
